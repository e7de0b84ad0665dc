import org.openapitools.client.model.ErrorCode;

final class UnknownCode {
  static final ErrorCode CODE = ErrorCode.NO_RECORD;
}

import org.openapitools.client.ApiException;
import org.openapitools.client.api.DataApi;

final class SizeIsText {
  static Object list() throws ApiException {
    return new DataApi().listRecords("Album", null, "2", null, null, null, null, null, null, null);
  }
}

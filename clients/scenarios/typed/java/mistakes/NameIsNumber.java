import org.openapitools.client.model.TrackCreate;

final class NameIsNumber {
  static final TrackCreate TRACK = new TrackCreate().name(1);
}

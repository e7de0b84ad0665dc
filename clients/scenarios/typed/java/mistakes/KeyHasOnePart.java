import org.openapitools.client.ApiException;
import org.openapitools.client.api.PlaylistTrackApi;

final class KeyHasOnePart {
  static Object read() throws ApiException {
    return new PlaylistTrackApi().readPlaylistTrack(1L);
  }
}

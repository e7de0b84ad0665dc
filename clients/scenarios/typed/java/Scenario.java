import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EmployeeApi;
import org.openapitools.client.api.PlaylistTrackApi;
import org.openapitools.client.api.TrackApi;
import org.openapitools.client.model.EmployeeQuery;
import org.openapitools.client.model.ErrorCode;
import org.openapitools.client.model.ErrorResponse;
import org.openapitools.client.model.TrackAddition;
import org.openapitools.client.model.TrackAggregate;
import org.openapitools.client.model.TrackAggregateFunction;
import org.openapitools.client.model.TrackCreate;
import org.openapitools.client.model.TrackUpdate;

public final class Scenario {
  private static void expect(boolean isTrue, Object value) {
    if (!isTrue) throw new AssertionError(value);
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("ROWHOUSE_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("ROWHOUSE_TOKEN")));
    TrackApi api = new TrackApi(client);

    var page = api.listTrack(null, 1, "-UnitPrice", null).getData();
    expect(page.getRows().get(0).getUnitPrice() == 1.29, page);
    var link = new PlaylistTrackApi(client).readPlaylistTrack(1L, 2L).getData();
    expect(link.getPlaylistId() == 1 && link.getTrackId() == 2, link);
    var query = new EmployeeQuery().addExpandItem("ReportsTo");
    var found = new EmployeeApi(client).queryEmployee(query).getData().getRows();
    expect(found.get(0).getExpand().getReportsTo() == null, found);
    expect(found.get(0).getHireDate().getYear() == 2002 && found.get(1).getHireDate() == null, found);
    expect(found.get(1).getExpand().getReportsTo().getLastName().equals("Adams"), found);
    var length = new TrackAggregateFunction().sum(TrackAggregateFunction.SumEnum.MILLISECONDS);
    var totals = new TrackAggregate().addGroupByItem(TrackAggregate.GroupByEnum.ALBUM_ID).putComputeItem("length", length);
    var rows = api.aggregateTrack(totals).getData().getRows();
    expect(rows.get(0).get("length").equals(343719), rows);
    var values = new TrackCreate().name("Dog Eat Dog").milliseconds(215196L).unitPrice(0.99).albumId(4L);
    expect(api.importTrack(List.of(values), null, true, null, null).getData().getCreated() == 1, "import");
    var created = api.createTrack(values).getData();
    expect(created.getTrackId() == 4 && created.getBytes() == null, created);
    var updated = api.updateTrack(4L, new TrackUpdate().albumId(null), "record", null).getData();
    expect(updated.getRecord().getAlbumId() == null, updated);
    var more = new TrackAddition().field(TrackAddition.FieldEnum.MILLISECONDS).count(4.0);
    var increased = api.addToTrack(4L, more, "record", null).getData();
    expect(increased.getRecord().getMilliseconds() == 215200, increased);
    expect(api.deleteTrack(4L, null, null).getData().getSuccess(), "delete");
    try {
      api.readTrack(4L);
      throw new AssertionError("The call succeeded.");
    } catch (ApiException exception) {
      var body = ApiClient.createDefaultObjectMapper().readValue(exception.getResponseBody(), ErrorResponse.class);
      expect(body.getError().getCode() == ErrorCode.RECORD_NOT_FOUND, body);
    }
  }
}

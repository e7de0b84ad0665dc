import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.DataApi;
import org.openapitools.client.api.ServiceApi;
import org.openapitools.client.model.ErrorCode;
import org.openapitools.client.model.ErrorInfo;
import org.openapitools.client.model.ErrorResponse;
import org.openapitools.client.model.JsonType;
import org.openapitools.client.model.TableCreate;
import org.openapitools.client.model.TableFieldAddition;
import org.openapitools.client.model.TableFieldCreate;
import org.openapitools.client.model.TableRecordIncrement;
import org.openapitools.client.model.TokenAction;

public final class Scenario {
  private static final String WIDE = "9007199254740993";

  private static final JsonInclude.Value WITH_NULL_IN_MAPS =
      JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS);

  private interface Call {
    void run() throws ApiException;
  }

  private static void expect(boolean isTrue, Object value) {
    if (!isTrue) throw new AssertionError(value);
  }

  private static ApiClient clientOf(String token) {
    ApiClient client = new ApiClient();
    // The mapper of the client leaves null out, also in a record.
    client.setObjectMapper(ApiClient.createDefaultObjectMapper().setDefaultPropertyInclusion(WITH_NULL_IN_MAPS));
    client.updateBaseUri(System.getenv("ROWHOUSE_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    return client;
  }

  private static DataApi withToken(String name) {
    return new DataApi(clientOf(System.getenv().getOrDefault(name, "wrong")));
  }

  /** Returns the error of a call that fails with the status. */
  private static ErrorInfo failure(int status, Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException exception) {
      expect(exception.getCode() == status, exception);
      return ApiClient.createDefaultObjectMapper().readValue(exception.getResponseBody(), ErrorResponse.class).getError();
    }
    throw new AssertionError("The call succeeded.");
  }

  private static TableFieldCreate field(String name, JsonType type) {
    return new TableFieldCreate().name(name).jsonType(type);
  }

  public static void main(String[] arguments) throws Exception {
    DataApi api = withToken("ROWHOUSE_TOKEN");

    var health = new ServiceApi(clientOf("")).checkLiveness();
    expect(health.getData().getStatus().equals("ok"), health);
    var me = api.readIdentity().getData();
    expect(me.getName().equals("main") && me.getTables().contains("Album"), me);
    expect(me.getPermissions().getActions().equals(List.of(TokenAction.READ, TokenAction.WRITE)), me);

    var page = api.listRecords("Album", null, 2, "-Title", null, null, null, null, null, null).getData();
    expect(page.getTotal() == 5 && page.getRows().get(0).get("Title").equals("Restless and Wild"), page);
    var found = api.listRecords("Album", 1, null, null, "rock", null, null, null, null, null).getData();
    expect(found.getRows().size() == 2, found);
    var schema = api.readTableSchema("Album").getData();
    expect(schema.getPrimaryKey().equals("AlbumId"), schema);
    expect(schema.getFields().get(0).getJsonType() == JsonType.INTEGER, schema);
    var link = api.readRecord("PlaylistTrack", "1,2", null).getData();
    expect(link.equals(Map.of("PlaylistId", 1, "TrackId", 2)), link);

    var table = new TableCreate().name("orders").label("Orders").autoTimestamps(true)
        .addFieldsItem(field("customer", JsonType.STRING).nullable(false))
        .addFieldsItem(field("quantity", JsonType.INTEGER))
        .addFieldsItem(field("price", JsonType.NUMBER))
        .addFieldsItem(field("note", JsonType.STRING));
    var created = api.createTable(table).getData();
    expect(created.getName().equals("orders") && created.getCreatedAt() > 1L << 40, created);
    var paid = field("paid", JsonType.BOOLEAN).nullable(false).defaultValue(false);
    var extended = api.addTableField("orders", new TableFieldAddition().field(paid)).getData();
    expect(extended.getFields().size() == 8, extended);

    Map<String, Object> values = Map.of("customer", "Maria", "quantity", 2, "price", 12.5, "note", "as a gift");
    var order = api.createRecord("orders", values, null, null, null, null).getData();
    expect(order.get("id").equals(1) && order.get("paid").equals(false), order);
    Map<String, Object> changes = new HashMap<>();
    changes.put("note", null);
    changes.put("paid", true);
    var updated = api.updateRecord("orders", "1", changes, null, null, null).getData();
    expect(updated.getSuccess(), updated);
    var read = api.readRecord("orders", "1", null).getData();
    expect(read.get("note") == null && read.get("price").equals(12.5), read);
    var repriced = api.updateRecord("orders", "1", Map.of("price", 9.5), "record", null, null).getData();
    expect(repriced.getRecord().get("price").equals(9.5), repriced);
    var more = new TableRecordIncrement().pk("1").field("quantity").count(3.0);
    var increased = api.incrementRecord("orders", more, "record", null, null).getData();
    expect(increased.getRecord().get("quantity").equals(5), increased);
    var counted = api.incrementRecord("orders", new TableRecordIncrement().pk("1").field("quantity"), null, null, null).getData();
    expect(counted.getSuccess(), counted);
    var wide = api.createRecord("orders", Map.of("customer", "Jonas", "quantity", WIDE), null, null, null, null).getData();
    expect(wide.get("quantity").equals(WIDE), wide);

    expect(api.deleteRecord("orders", "1", null, null, null).getData().getSuccess(), "delete");
    var missing = failure(404, () -> api.readRecord("orders", "1", null));
    expect(missing.getCode() == ErrorCode.RECORD_NOT_FOUND, missing);
    var invalid = failure(400, () -> api.createRecord("orders", Map.of("customer", 5), null, null, null, null));
    expect(invalid.getDetails().get(0).getPath().equals("/customer"), invalid);
    var forbidden = failure(403, () -> withToken("ROWHOUSE_READER_TOKEN").createRecord("orders", Map.of("customer", "Eva"), null, null, null, null));
    expect(forbidden.getCode() == ErrorCode.ACTION_NOT_ALLOWED, forbidden);
    var unknown = failure(401, () -> withToken("NO_TOKEN").readIdentity());
    expect(unknown.getCode() == ErrorCode.INVALID_TOKEN, unknown);
  }
}

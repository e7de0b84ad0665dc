import org.openapitools.client.ApiClient;

public final class Scenario {
  public static void main(String[] arguments) {
    new ApiClient();
  }
}

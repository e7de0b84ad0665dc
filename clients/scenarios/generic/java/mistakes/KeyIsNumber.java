import org.openapitools.client.model.TableRecordIncrement;

final class KeyIsNumber {
  static final TableRecordIncrement INCREMENT = new TableRecordIncrement().pk(1);
}

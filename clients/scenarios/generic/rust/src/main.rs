use std::collections::HashMap;
use std::env;
use std::fmt::Debug;

use rowhouse::apis::configuration::Configuration;
use rowhouse::apis::{Error, data_api, service_api};
use rowhouse::models::{
    ErrorCode, ErrorInfo, ErrorResponse, JsonType, TableCreate, TableFieldAddition, TableFieldCreate,
    TableRecordIncrement, TokenAction,
};
use serde_json::{Value, json};

const WIDE: &str = "9007199254740993";

fn with_token(name: &str) -> Configuration {
    Configuration {
        base_path: env::var("ROWHOUSE_URL").unwrap(),
        bearer_access_token: Some(env::var(name).unwrap_or_default()),
        ..Configuration::default()
    }
}

fn record(value: Value) -> HashMap<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn field(name: &str, json_type: JsonType) -> TableFieldCreate {
    TableFieldCreate::new(name.to_string(), json_type)
}

/// Returns the error of a call that fails with the status.
fn failure<T: Debug, E: Debug>(status: u16, result: Result<T, Error<E>>) -> ErrorInfo {
    let Err(Error::ResponseError(response)) = result else { panic!("{result:?}") };
    assert_eq!(response.status.as_u16(), status);
    *serde_json::from_str::<ErrorResponse>(&response.content).unwrap().error
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let api = &with_token("ROWHOUSE_TOKEN");

    let health = service_api::check_liveness(api).await.unwrap();
    assert_eq!(health.data.status, "ok");
    let me = data_api::read_identity(api).await.unwrap().data;
    assert_eq!(me.name, "main");
    assert!(me.tables.contains(&"Album".to_string()));
    assert_eq!(me.permissions.actions, [TokenAction::Read, TokenAction::Write]);

    let page = data_api::list_records(api, "Album", None, Some(2), Some("-Title"), None, None, None, None, None, None).await.unwrap().data;
    assert_eq!(page.total, 5);
    assert_eq!(page.rows[0]["Title"], "Restless and Wild");
    let found = data_api::list_records(api, "Album", Some(1), None, None, Some("rock"), None, None, None, None, None).await.unwrap().data;
    assert_eq!(found.rows.len(), 2);
    let schema = data_api::read_table_schema(api, "Album").await.unwrap().data;
    assert_eq!(schema.primary_key, "AlbumId");
    assert_eq!(schema.fields[0].json_type, JsonType::Integer);
    let link = data_api::read_record(api, "PlaylistTrack", "1,2", None).await.unwrap().data;
    assert_eq!(link, record(json!({ "PlaylistId": 1, "TrackId": 2 })));

    let mut customer = field("customer", JsonType::String);
    customer.nullable = Some(false);
    let fields = vec![
        customer,
        field("quantity", JsonType::Integer),
        field("price", JsonType::Number),
        field("note", JsonType::String),
    ];
    let mut table = TableCreate::new("orders".to_string(), fields);
    table.auto_timestamps = Some(true);
    let created = data_api::create_table(api, table).await.unwrap().data;
    assert_eq!(created.name, "orders");
    assert!(created.created_at > 1 << 40);
    let mut paid = field("paid", JsonType::Boolean);
    paid.nullable = Some(false);
    paid.default_value = Some(Some(json!(false)));
    let extended = data_api::add_table_field(api, "orders", TableFieldAddition::new(paid)).await.unwrap().data;
    assert_eq!(extended.fields.len(), 8);

    let values = record(json!({ "customer": "Maria", "quantity": 2, "price": 12.5, "note": "as a gift" }));
    let order = data_api::create_record(api, "orders", values, None, None, None, None).await.unwrap().data;
    assert_eq!(order["id"], 1);
    assert_eq!(order["paid"], false);
    let changes = record(json!({ "note": null, "paid": true }));
    let updated = data_api::update_record(api, "orders", "1", changes, None, None, None).await.unwrap().data;
    assert!(updated.success && updated.record.is_none());
    let read = data_api::read_record(api, "orders", "1", None).await.unwrap().data;
    assert_eq!(read["note"], Value::Null);
    assert_eq!(read["price"], 12.5);
    let price = record(json!({ "price": 10 }));
    let repriced = data_api::update_record(api, "orders", "1", price, Some("record"), None, None).await.unwrap().data;
    assert_eq!(repriced.record.unwrap()["price"], 10.0);
    let mut more = TableRecordIncrement::new("1".to_string(), "quantity".to_string());
    let counted = data_api::increment_record(api, "orders", more.clone(), None, None, None).await.unwrap().data;
    assert!(counted.success);
    more.count = Some(3.0);
    let increased = data_api::increment_record(api, "orders", more, Some("record"), None, None).await.unwrap().data;
    assert_eq!(increased.record.unwrap()["quantity"], 6);
    let values = record(json!({ "customer": "Jonas", "quantity": WIDE }));
    let wide = data_api::create_record(api, "orders", values, None, None, None, None).await.unwrap().data;
    assert_eq!(wide["quantity"], WIDE);

    assert!(data_api::delete_record(api, "orders", "1", None, None, None).await.unwrap().data.success);
    let missing = failure(404, data_api::read_record(api, "orders", "1", None).await);
    assert_eq!(missing.code, ErrorCode::RecordNotFound);
    let invalid = failure(400, data_api::create_record(api, "orders", record(json!({ "customer": 5 })), None, None, None, None).await);
    assert_eq!(invalid.details.unwrap()[0].path, "/customer");
    let reader = &with_token("ROWHOUSE_READER_TOKEN");
    let forbidden = failure(403, data_api::create_record(reader, "orders", record(json!({ "customer": "Eva" })), None, None, None, None).await);
    assert_eq!(forbidden.code, ErrorCode::ActionNotAllowed);
    let unknown = failure(401, data_api::read_identity(&with_token("NO_TOKEN")).await);
    assert_eq!(unknown.code, ErrorCode::InvalidToken);
}

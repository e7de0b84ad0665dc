use std::env;
use std::fmt::Debug;
use std::num::NonZeroU32;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use types::{
    ErrorCode, ErrorInfo, ErrorResponse, IncrementRecordReturn, JsonType, TableCreate, TableFieldAddition,
    TableFieldCreate, TableRecordIncrement, TableRecordInput, TokenAction, UpdateRecordReturn,
};

progenitor::generate_api!("openapi-3.0.json");

const WIDE: &str = "9007199254740993";

fn with_token(name: &str) -> Client {
    let token = env::var(name).unwrap_or_default();
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
    let client = reqwest::Client::builder().default_headers(headers).build().unwrap();
    Client::new_with_client(&env::var("ROWHOUSE_URL").unwrap(), client)
}

fn record(value: Value) -> TableRecordInput {
    serde_json::from_value(value).unwrap()
}

fn field(name: &str, json_type: JsonType, nullable: bool, default_value: Option<Value>) -> TableFieldCreate {
    TableFieldCreate {
        check: None,
        default_value,
        is_auto_increment: None,
        is_indexed: None,
        is_primary: None,
        is_unique: None,
        json_type,
        label: None,
        name: name.parse().unwrap(),
        nullable: Some(nullable),
        references: None,
        sqlite_type: None,
    }
}

/// Returns the error of a call that fails with the status.
fn failure<T: Debug>(status: u16, result: Result<T, Error<ErrorResponse>>) -> ErrorInfo {
    let Err(Error::ErrorResponse(response)) = result else { panic!("{result:?}") };
    assert_eq!(response.status().as_u16(), status);
    response.into_inner().error
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let api = with_token("ROWHOUSE_TOKEN");

    let health = api.check_liveness().await.unwrap().into_inner();
    assert_eq!(health.data.status, "ok");
    let me = api.read_identity().await.unwrap().into_inner().data;
    assert_eq!(me.name, "main");
    assert!(me.tables.contains(&"Album".to_string()));
    assert_eq!(me.permissions.actions, [TokenAction::Read, TokenAction::Write]);

    let page = api.list_records("Album", None, None, None, None, Some("-Title"), None, None, NonZeroU32::new(2), None).await.unwrap().into_inner().data;
    assert_eq!(page.total, 5);
    assert_eq!(page.rows[0]["Title"], "Restless and Wild");
    let rock = "rock".parse().unwrap();
    let found = api.list_records("Album", None, None, None, None, None, NonZeroU32::new(1), Some(&rock), None, None).await.unwrap().into_inner().data;
    assert_eq!(found.rows.len(), 2);
    let schema = api.read_table_schema("Album").await.unwrap().into_inner().data;
    assert_eq!(schema.primary_key, "AlbumId");
    assert_eq!(schema.fields[0].json_type, JsonType::Integer);
    let link = api.read_record("PlaylistTrack", "1,2", None).await.unwrap().into_inner().data;
    assert_eq!(serde_json::to_value(&link).unwrap(), json!({ "PlaylistId": 1, "TrackId": 2 }));

    let table = TableCreate {
        auto_timestamps: Some(true),
        fields: vec![
            field("customer", JsonType::String, false, None),
            field("quantity", JsonType::Integer, true, None),
            field("price", JsonType::Number, true, None),
            field("note", JsonType::String, true, None),
        ],
        label: Some("Orders".parse().unwrap()),
        name: "orders".parse().unwrap(),
        note: None,
    };
    let created = api.create_table(&table).await.unwrap().into_inner().data;
    assert_eq!(created.name, "orders");
    assert!(created.created_at > 1 << 40);
    let paid = field("paid", JsonType::Boolean, false, Some(json!(false)));
    let addition = TableFieldAddition { field: paid };
    let extended = api.add_table_field("orders", &addition).await.unwrap().into_inner().data;
    assert_eq!(extended.fields.len(), 8);

    let values = record(json!({ "customer": "Maria", "quantity": 2, "price": 12.5, "note": "as a gift" }));
    let order = api.create_record("orders", None, None, None, None, &values).await.unwrap().into_inner().data;
    assert_eq!(order["id"], 1);
    assert_eq!(order["paid"], false);
    let changes = record(json!({ "note": null, "paid": true }));
    let updated = api.update_record("orders", "1", None, None, None, &changes).await.unwrap().into_inner().data;
    assert!(updated.success && updated.record.is_none());
    let read = api.read_record("orders", "1", None).await.unwrap().into_inner().data;
    assert_eq!(read["note"], Value::Null);
    assert_eq!(read["price"], 12.5);
    let price = record(json!({ "price": 10 }));
    let repriced = api.update_record("orders", "1", Some(UpdateRecordReturn::Record), None, None, &price).await.unwrap();
    assert_eq!(repriced.into_inner().data.record.unwrap()["price"], 10.0);
    let mut more = TableRecordIncrement { count: None, field: "quantity".to_string(), pk: "1".to_string() };
    let counted = api.increment_record("orders", None, None, None, &more).await.unwrap().into_inner().data;
    assert!(counted.success);
    more.count = Some(3.0);
    let increased = api.increment_record("orders", Some(IncrementRecordReturn::Record), None, None, &more).await.unwrap();
    assert_eq!(increased.into_inner().data.record.unwrap()["quantity"], 6);
    let values = record(json!({ "customer": "Jonas", "quantity": WIDE }));
    let wide = api.create_record("orders", None, None, None, None, &values).await.unwrap().into_inner().data;
    assert_eq!(wide["quantity"], WIDE);

    assert!(api.delete_record("orders", "1", None, None, None).await.unwrap().into_inner().data.success);
    let missing = failure(404, api.read_record("orders", "1", None).await);
    assert_eq!(missing.code, ErrorCode::RecordNotFound);
    let invalid = failure(400, api.create_record("orders", None, None, None, None, &record(json!({ "customer": 5 }))).await);
    assert_eq!(invalid.details[0].path, "/customer");
    let reader = with_token("ROWHOUSE_READER_TOKEN");
    let forbidden = failure(403, reader.create_record("orders", None, None, None, None, &record(json!({ "customer": "Eva" }))).await);
    assert_eq!(forbidden.code, ErrorCode::ActionNotAllowed);
    let unknown = failure(401, with_token("NO_TOKEN").read_identity().await);
    assert_eq!(unknown.code, ErrorCode::InvalidToken);
}

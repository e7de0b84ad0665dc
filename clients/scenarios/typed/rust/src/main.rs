use std::env;

use rowhouse::apis::configuration::Configuration;
use rowhouse::apis::{Error, employee_api, playlist_track_api, track_api};
use rowhouse::models::track_addition::Field;
use rowhouse::models::track_aggregate::GroupBy;
use rowhouse::models::track_aggregate_function::Sum;
use rowhouse::models::{
    EmployeeQuery, ErrorCode, ErrorResponse, TrackAddition, TrackAggregate, TrackAggregateFunction, TrackCreate,
    TrackUpdate,
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let api = &Configuration {
        base_path: env::var("ROWHOUSE_URL").unwrap(),
        bearer_access_token: Some(env::var("ROWHOUSE_TOKEN").unwrap()),
        ..Configuration::default()
    };

    let page = track_api::list_track(api, None, Some(1), Some("-UnitPrice"), None).await.unwrap().data;
    assert_eq!(page.rows[0].unit_price, 1.29);
    let link = playlist_track_api::read_playlist_track(api, 1, 2).await.unwrap().data;
    assert_eq!((link.playlist_id, link.track_id), (1, 2));
    let query = EmployeeQuery { expand: Some(vec!["ReportsTo".to_string()]), ..EmployeeQuery::new() };
    let found = employee_api::query_employee(api, query).await.unwrap().data.rows;
    assert_eq!(found[0].hire_date.unwrap().to_string(), "2002-08-14");
    assert_eq!(found[0].expand.as_ref().unwrap().reports_to, Some(None));
    let boss = found[1].expand.clone().unwrap().reports_to.flatten().unwrap();
    assert_eq!(boss.last_name, "Adams");
    let length = TrackAggregateFunction { sum: Some(Sum::Milliseconds), ..TrackAggregateFunction::new() };
    let compute = [("length".to_string(), length)].into();
    let totals = TrackAggregate { group_by: Some(vec![GroupBy::AlbumId]), ..TrackAggregate::new(compute) };
    let rows = track_api::aggregate_track(api, totals).await.unwrap().data.rows;
    assert_eq!(rows[0]["length"], 343719);
    let values = TrackCreate { album_id: Some(Some(4)), ..TrackCreate::new("Dog Eat Dog".to_string(), 215196, 0.99) };
    let imported = track_api::import_track(api, vec![values.clone()], None, Some(true), None, None).await.unwrap().data;
    assert_eq!(imported.created, 1);
    let created = track_api::create_track(api, values).await.unwrap().data;
    assert_eq!((created.track_id, created.bytes), (4, None));
    let changes = TrackUpdate { album_id: Some(None), ..TrackUpdate::default() };
    let updated = track_api::update_track(api, 4, changes, Some("record"), None).await.unwrap().data;
    assert_eq!(updated.record.unwrap().album_id, None);
    let more = TrackAddition { count: Some(4.0), ..TrackAddition::new(Field::Milliseconds) };
    let increased = track_api::add_to_track(api, 4, more, Some("record"), None).await.unwrap().data;
    assert_eq!(increased.record.unwrap().milliseconds, 215200);
    assert!(track_api::delete_track(api, 4, None, None).await.unwrap().data.success);
    let Err(Error::ResponseError(missing)) = track_api::read_track(api, 4).await else { panic!() };
    assert_eq!(missing.status.as_u16(), 404);
    let body = serde_json::from_str::<ErrorResponse>(&missing.content).unwrap();
    assert_eq!(body.error.code, ErrorCode::RecordNotFound);
}

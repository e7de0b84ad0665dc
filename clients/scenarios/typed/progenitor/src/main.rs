use std::env;
use std::num::NonZeroU32;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use types::{
    EmployeeQuery, ErrorCode, TrackAddition, TrackAdditionField, TrackAggregate, TrackAggregateFunction,
    TrackAggregateFunctionSum, TrackAggregateGroupByItem, TrackCreate, TrackUpdate, UpdateTrackReturn,
};

progenitor::generate_api!("openapi-3.0.json");

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let token = env::var("ROWHOUSE_TOKEN").unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
    let client = reqwest::Client::builder().default_headers(headers).build().unwrap();
    let api = Client::new_with_client(&env::var("ROWHOUSE_URL").unwrap(), client);

    let page = api.list_track(Some("-UnitPrice"), None, None, NonZeroU32::new(1)).await.unwrap().into_inner().data;
    assert_eq!(page.rows[0].unit_price, 1.29);
    let link = api.read_playlist_track(1, 2).await.unwrap().into_inner().data;
    assert_eq!((link.playlist_id, link.track_id), (1, 2));
    let query = EmployeeQuery { expand: vec!["ReportsTo".to_string()], ..Default::default() };
    let found = api.query_employee(&query).await.unwrap().into_inner().data.rows;
    assert_eq!(found[0].hire_date.unwrap().to_string(), "2002-08-14");
    assert!(found[0].expand.as_ref().unwrap().reports_to.is_none());
    assert_eq!(found[1].expand.as_ref().unwrap().reports_to.as_ref().unwrap().last_name, "Adams");
    let length = TrackAggregateFunction { sum: Some(TrackAggregateFunctionSum::Milliseconds), ..Default::default() };
    let totals = TrackAggregate {
        by: None,
        compute: [("length".to_string(), length)].into(),
        filter: None,
        group_by: vec![TrackAggregateGroupByItem::AlbumId],
        having: Default::default(),
        order: None,
        q: None,
        size: None,
    };
    assert_eq!(api.aggregate_track(&totals).await.unwrap().into_inner().data.rows[0]["length"], 343719);
    let new = TrackCreate {
        album_id: Some(4),
        bytes: None,
        milliseconds: 215196,
        name: "Dog Eat Dog".parse().unwrap(),
        track_id: None,
        unit_price: 0.99,
    };
    let imported = api.import_track(None, Some(true), None, None, &vec![new.clone()]).await.unwrap().into_inner().data;
    assert_eq!(imported.created, 1);
    let created = api.create_track(&new).await.unwrap().into_inner().data;
    assert_eq!((created.track_id, created.bytes), (4, None));
    let changes = TrackUpdate { name: Some("Overdose".parse().unwrap()), ..Default::default() };
    let updated = api.update_track(4, Some(UpdateTrackReturn::Record), None, &changes).await.unwrap().into_inner().data;
    assert_eq!(updated.record.unwrap().album_id, Some(4));
    let more = TrackAddition { count: None, field: TrackAdditionField::Milliseconds };
    assert!(api.add_to_track(4, None, None, &more).await.unwrap().into_inner().data.success);
    assert!(api.delete_track(4, None, None).await.unwrap().into_inner().data.success);
    let Err(Error::ErrorResponse(missing)) = api.read_track(4).await else { panic!() };
    assert_eq!(missing.into_inner().error.code, ErrorCode::RecordNotFound);
}

use std::env;
use std::num::NonZeroU32;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use types::{EmployeeQuery, ErrorCode, TrackCreate, TrackIncrement, TrackIncrementField, TrackUpdate, UpdateTrackReturn};

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
    assert!(found[0].expand.as_ref().unwrap().reports_to.is_none());
    assert_eq!(found[1].expand.as_ref().unwrap().reports_to.as_ref().unwrap().last_name, "Adams");
    let new = TrackCreate {
        album_id: Some(4),
        bytes: None,
        milliseconds: 215196,
        name: "Dog Eat Dog".parse().unwrap(),
        track_id: None,
        unit_price: 0.99,
    };
    let created = api.create_track(&new).await.unwrap().into_inner().data;
    assert_eq!((created.track_id, created.bytes), (4, None));
    let changes = TrackUpdate { name: Some("Overdose".parse().unwrap()), ..Default::default() };
    let updated = api.update_track(4, Some(UpdateTrackReturn::Record), None, &changes).await.unwrap().into_inner().data;
    assert_eq!(updated.record.unwrap().album_id, Some(4));
    let more = TrackIncrement { count: None, field: TrackIncrementField::Milliseconds, pk: "4".to_string() };
    assert!(api.increment_track(None, None, &more).await.unwrap().into_inner().data.success);
    assert!(api.delete_track(4, None, None).await.unwrap().into_inner().data.success);
    let Err(Error::ErrorResponse(missing)) = api.read_track(4).await else { panic!() };
    assert_eq!(missing.into_inner().error.code, ErrorCode::RecordNotFound);
}

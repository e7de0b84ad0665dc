import os
from datetime import date

import rowhouse
from rowhouse import (
    ApiException,
    EmployeeQuery,
    ErrorCode,
    ErrorResponse,
    TrackAddition,
    TrackAggregate,
    TrackAggregateFunction,
    TrackCreate,
    TrackUpdate,
)

configuration = rowhouse.Configuration(host=os.environ["ROWHOUSE_URL"], access_token=os.environ["ROWHOUSE_TOKEN"])
client = rowhouse.ApiClient(configuration)
api = rowhouse.TrackApi(client)
links = rowhouse.PlaylistTrackApi(client)

page = api.list_track(order="-UnitPrice", size=1).data
assert page.rows[0].unit_price == 1.29
link = links.read_playlist_track(1, 2).data
assert (link.playlist_id, link.track_id) == (1, 2)
first, second = rowhouse.EmployeeApi(client).query_employee(EmployeeQuery(expand=["ReportsTo"])).data.rows
assert first.hire_date == date(2002, 8, 14) and second.hire_date is None
assert first.expand is not None and first.expand.reports_to is None
assert second.expand is not None and second.expand.reports_to is not None
assert second.expand.reports_to.last_name == "Adams"
totals = TrackAggregate(groupBy=["AlbumId"], compute={"length": TrackAggregateFunction(sum="Milliseconds")})
assert api.aggregate_track(totals).data.rows[0]["length"] == 343719
assert "For Those About To Rock" in api.export_track(fields="Name", q="Rock")
new = TrackCreate(Name="Dog Eat Dog", Milliseconds=215196, UnitPrice=0.99, AlbumId=4)
assert api.import_track([new], dry_run=True).data.created == 1
created = api.create_track(new).data
assert created.track_id == 4 and created.bytes is None
updated = api.update_track(4, TrackUpdate(AlbumId=None), var_return="record").data
assert updated.record is not None and updated.record.album_id is None and updated.record.name == "Dog Eat Dog"
more = TrackAddition(field="Milliseconds", count=4)
increased = api.add_to_track(4, more, var_return="record").data
assert increased.record is not None and increased.record.milliseconds == 215200
assert api.delete_track(4).data.success
try:
    api.read_track(4)
    raise AssertionError("The call succeeded.")
except ApiException as error:
    assert error.status == 404 and isinstance(error.data, ErrorResponse)
    assert error.data.error.code == ErrorCode.RECORD_NOT_FOUND
try:
    TrackAddition(field="Name")
    raise AssertionError("A name is no number.")
except ValueError as error:
    assert "Milliseconds" in str(error)


def mistakes() -> None:
    """Never called: each line is a mistake that mypy must find. With --strict, an unused ignore is an error."""
    TrackCreate(Milliseconds=1, UnitPrice=1)  # type: ignore[call-arg]
    TrackUpdate(Name=1)  # type: ignore[arg-type]
    TrackAddition(field=4)  # type: ignore[arg-type]
    second.expand.last_name  # type: ignore[union-attr]
    links.read_playlist_track(1)  # type: ignore[call-arg]

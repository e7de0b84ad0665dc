import os
from datetime import date
from typing import TypeVar

from rowhouse import AuthenticatedClient
from rowhouse.api.employee import query_employee
from rowhouse.api.playlist_track import read_playlist_track
from rowhouse.api.track import (
    add_to_track,
    aggregate_track,
    create_track,
    delete_track,
    export_track,
    import_track,
    list_track,
    read_track,
    update_track,
)
from rowhouse.models import (
    Employee,
    EmployeeQuery,
    ErrorCode,
    ErrorResponse,
    TrackAddition,
    TrackAdditionField,
    TrackAggregate,
    TrackAggregateCompute,
    TrackAggregateFunction,
    TrackAggregateFunctionSum,
    TrackAggregateGroupByItem,
    TrackCreate,
    TrackUpdate,
    UpdateTrackReturn,
)
from rowhouse.types import Unset

T = TypeVar("T")


def success(response: T | ErrorResponse | None) -> T:
    assert response is not None and not isinstance(response, ErrorResponse), response
    return response


client = AuthenticatedClient(base_url=os.environ["ROWHOUSE_URL"], token=os.environ["ROWHOUSE_TOKEN"])

page = success(list_track.sync(client=client, order="-UnitPrice", size=1)).data
assert page.rows[0].unit_price == 1.29
link = success(read_playlist_track.sync(1, 2, client=client)).data
assert (link.playlist_id, link.track_id) == (1, 2)
first, second = success(query_employee.sync(client=client, body=EmployeeQuery(expand=["ReportsTo"]))).data.rows
assert first.hire_date == date(2002, 8, 14) and second.hire_date is None
assert not isinstance(first.expand, Unset) and first.expand.reports_to is None
assert not isinstance(second.expand, Unset) and isinstance(second.expand.reports_to, Employee)
assert second.expand.reports_to.last_name == "Adams"
compute = TrackAggregateCompute()
compute["length"] = TrackAggregateFunction(sum_=TrackAggregateFunctionSum.MILLISECONDS)
totals = TrackAggregate(group_by=[TrackAggregateGroupByItem.ALBUMID], compute=compute)
assert success(aggregate_track.sync(client=client, body=totals)).data.rows[0]["length"] == 343719
assert "For Those About To Rock" in str(export_track.sync(client=client, fields="Name", q="Rock"))
new = TrackCreate(name="Dog Eat Dog", milliseconds=215196, unit_price=0.99, album_id=4)
assert success(import_track.sync(client=client, body=[new], dry_run=True)).data.created == 1
created = success(create_track.sync(client=client, body=new)).data
assert created.track_id == 4 and created.bytes_ is None
changes = TrackUpdate(album_id=None)
updated = success(update_track.sync(4, client=client, body=changes, return_=UpdateTrackReturn.RECORD)).data
assert not isinstance(updated.record, Unset) and updated.record.album_id is None
more = TrackAddition(field=TrackAdditionField.MILLISECONDS, count=4)
assert success(add_to_track.sync(4, client=client, body=more)).data.success
assert success(delete_track.sync(4, client=client)).data.success
missing = read_track.sync(4, client=client)
assert isinstance(missing, ErrorResponse) and missing.error.code == ErrorCode.RECORD_NOT_FOUND


def mistakes() -> None:
    """Never called: each line is a mistake that mypy must find. With --strict, an unused ignore is an error."""
    TrackCreate(milliseconds=1, unit_price=1)  # type: ignore[call-arg]
    TrackUpdate(name=None)  # type: ignore[arg-type]
    second.expand.last_name  # type: ignore[union-attr]
    read_playlist_track.sync(1, client=client)  # type: ignore[call-arg]

import os
from collections.abc import Callable

import rowhouse
from rowhouse import (
    ApiException,
    ErrorCode,
    ErrorInfo,
    ErrorResponse,
    JsonType,
    TableCreate,
    TableFieldAddition,
    TableFieldCreate,
    TableRecordIncrement,
    TokenAction,
)

WIDE = "9007199254740993"
HOST = os.environ["ROWHOUSE_URL"]


def with_token(token: str) -> rowhouse.DataApi:
    return rowhouse.DataApi(rowhouse.ApiClient(rowhouse.Configuration(host=HOST, access_token=token)))


def failure(status: int, call: Callable[[], object]) -> ErrorInfo:
    """Returns the error of a call that fails with the status."""
    try:
        call()
    except ApiException as error:
        assert error.status == status, error
        assert isinstance(error.data, ErrorResponse)
        return error.data.error
    raise AssertionError("The call succeeded.")


api = with_token(os.environ["ROWHOUSE_TOKEN"])

service = rowhouse.ServiceApi(rowhouse.ApiClient(rowhouse.Configuration(host=HOST)))
assert service.check_liveness().data.status == "ok"
me = api.read_identity().data
assert me.name == "main" and "Album" in me.tables
assert me.permissions.actions == [TokenAction.READ, TokenAction.WRITE]

page = api.list_records("Album", size=2, order="-Title").data
assert page.total == 5 and page.rows[0]["Title"] == "Restless and Wild"
found = api.list_records("Album", q="rock", page=1).data
assert len(found.rows) == 2
schema = api.read_table_schema("Album").data
assert schema.primary_key == "AlbumId" and schema.fields[0].json_type == JsonType.INTEGER
assert api.read_record("PlaylistTrack", "1,2").data == {"PlaylistId": 1, "TrackId": 2}


def field(name: str, json_type: JsonType, nullable: bool = True) -> TableFieldCreate:
    return TableFieldCreate(name=name, jsonType=json_type, nullable=nullable)


table = TableCreate(
    name="orders",
    label="Orders",
    fields=[
        field("customer", JsonType.STRING, nullable=False),
        field("quantity", JsonType.INTEGER),
        field("price", JsonType.NUMBER),
        field("note", JsonType.STRING),
    ],
    autoTimestamps=True,
)
created = api.create_table(table).data
assert created.name == "orders" and created.created_at > 2**40
paid = TableFieldCreate(name="paid", jsonType=JsonType.BOOLEAN, nullable=False, defaultValue=False)
extended = api.add_table_field("orders", TableFieldAddition(field=paid)).data
assert [one.name for one in extended.fields].count("paid") == 1

order = api.create_record("orders", {"customer": "Maria", "quantity": 2, "price": 12.5, "note": "as a gift"}).data
assert order["id"] == 1 and order["paid"] is False
updated = api.update_record("orders", "1", {"note": None, "paid": True}).data
assert updated.success and updated.record is None
read = api.read_record("orders", "1").data
assert read["note"] is None and read["price"] == 12.5
repriced = api.update_record("orders", "1", {"price": 10}, var_return="record").data
assert repriced.record is not None and repriced.record["price"] == 10
more = TableRecordIncrement(pk="1", field="quantity", count=3)
increased = api.increment_record("orders", more, var_return="record").data
assert increased.record is not None and increased.record["quantity"] == 5
assert api.increment_record("orders", TableRecordIncrement(pk="1", field="quantity")).data.success
assert api.create_record("orders", {"customer": "Jonas", "quantity": WIDE}).data["quantity"] == WIDE

assert api.delete_record("orders", "1").data.success
assert failure(404, lambda: api.read_record("orders", "1")).code == ErrorCode.RECORD_NOT_FOUND
invalid = failure(400, lambda: api.create_record("orders", {"customer": 5}))
assert invalid.details is not None and invalid.details[0].path == "/customer"
reader = with_token(os.environ["ROWHOUSE_READER_TOKEN"])
forbidden = failure(403, lambda: reader.create_record("orders", {"customer": "Eva"}))
assert forbidden.code == ErrorCode.ACTION_NOT_ALLOWED
assert failure(401, with_token("wrong").read_identity).code == ErrorCode.INVALID_TOKEN


def mistakes() -> None:
    """Never called: each line is a mistake that mypy must find. With --strict, an unused ignore is an error."""
    api.list_records("Album", size="2")  # type: ignore[arg-type]
    api.list_records()  # type: ignore[call-arg]
    TableRecordIncrement(pk=1, field="quantity")  # type: ignore[arg-type]

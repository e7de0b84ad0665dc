import os
from typing import TypeVar

from rowhouse import AuthenticatedClient
from rowhouse.api.data import (
    add_table_field,
    create_record,
    create_table,
    delete_record,
    increment_record,
    list_records,
    read_identity,
    read_record,
    read_table_schema,
    update_record,
)
from rowhouse.api.service import check_liveness
from rowhouse.models import (
    ErrorCode,
    ErrorResponse,
    IncrementRecordReturn,
    JsonType,
    TableCreate,
    TableFieldAddition,
    TableFieldCreate,
    TableRecordIncrement,
    TableRecordInput,
    TokenAction,
    UpdateRecordReturn,
)
from rowhouse.types import UNSET, Unset

T = TypeVar("T")
WIDE = "9007199254740993"


def with_token(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["ROWHOUSE_URL"], token=token)


def success(response: T | ErrorResponse | None) -> T:
    assert response is not None and not isinstance(response, ErrorResponse), response
    return response


def failure(response: object) -> ErrorResponse:
    assert isinstance(response, ErrorResponse), response
    return response


def present(value: T | Unset) -> T:
    assert not isinstance(value, Unset)
    return value


client = with_token(os.environ["ROWHOUSE_TOKEN"])

assert success(check_liveness.sync(client=client)).data.status == "ok"
me = success(read_identity.sync(client=client)).data
assert me.name == "main" and "Album" in me.tables
assert me.permissions.actions == [TokenAction.READ, TokenAction.WRITE]

page = success(list_records.sync("Album", client=client, size=2, order="-Title")).data
assert page.total == 5 and page.rows[0]["Title"] == "Restless and Wild"
found = success(list_records.sync("Album", client=client, q="rock", page=1)).data
assert len(found.rows) == 2
schema = success(read_table_schema.sync("Album", client=client)).data
assert schema.primary_key == "AlbumId" and schema.fields[0].json_type == JsonType.INTEGER
link = success(read_record.sync("PlaylistTrack", "1,2", client=client)).data
assert link.to_dict() == {"PlaylistId": 1, "TrackId": 2}

table = TableCreate(
    name="orders",
    label="Orders",
    fields=[
        TableFieldCreate(name="customer", json_type=JsonType.STRING, nullable=False),
        TableFieldCreate(name="quantity", json_type=JsonType.INTEGER),
        TableFieldCreate(name="price", json_type=JsonType.NUMBER),
        TableFieldCreate(name="note", json_type=JsonType.STRING),
    ],
    auto_timestamps=True,
)
created = success(create_table.sync(client=client, body=table)).data
assert created.name == "orders" and created.created_at > 2**40
paid = TableFieldCreate(name="paid", json_type=JsonType.BOOLEAN, nullable=False, default_value=False)
extended = success(add_table_field.sync("orders", client=client, body=TableFieldAddition(field=paid))).data
assert [field.name for field in extended.fields].count("paid") == 1


def values(**fields: object) -> TableRecordInput:
    return TableRecordInput.from_dict(fields)


new = values(customer="Maria", quantity=2, price=12.5, note="as a gift")
order = success(create_record.sync("orders", client=client, body=new)).data
assert order["id"] == 1 and order["paid"] is False
updated = success(update_record.sync("orders", "1", client=client, body=values(note=None, paid=True))).data
assert updated.success and updated.record is UNSET
read = success(read_record.sync("orders", "1", client=client)).data
assert read["note"] is None and read["price"] == 12.5
repriced = update_record.sync(
    "orders", "1", client=client, body=values(price=10), return_=UpdateRecordReturn.RECORD
)
assert present(success(repriced).data.record)["price"] == 10
more = TableRecordIncrement(pk="1", field="quantity", count=3)
increased = increment_record.sync("orders", client=client, body=more, return_=IncrementRecordReturn.RECORD)
assert present(success(increased).data.record)["quantity"] == 5
one_more = TableRecordIncrement(pk="1", field="quantity")
assert success(increment_record.sync("orders", client=client, body=one_more)).data.success
wide = success(create_record.sync("orders", client=client, body=values(customer="Jonas", quantity=WIDE))).data
assert wide["quantity"] == WIDE

assert success(delete_record.sync("orders", "1", client=client)).data.success
missing = read_record.sync_detailed("orders", "1", client=client)
assert missing.status_code == 404
assert failure(missing.parsed).error.code == ErrorCode.RECORD_NOT_FOUND
invalid = failure(create_record.sync("orders", client=client, body=values(customer=5)))
assert present(invalid.error.details)[0].path == "/customer"
reader = with_token(os.environ["ROWHOUSE_READER_TOKEN"])
forbidden = failure(create_record.sync("orders", client=reader, body=values(customer="Eva")))
assert forbidden.error.code == ErrorCode.ACTION_NOT_ALLOWED
unknown = failure(read_identity.sync(client=with_token("wrong")))
assert unknown.error.code == ErrorCode.INVALID_TOKEN


def mistakes() -> None:
    """Never called: each line is a mistake that mypy must find. With --strict, an unused ignore is an error."""
    list_records.sync("Album", client=client, size="2")  # type: ignore[arg-type]
    TableRecordIncrement(pk="1")  # type: ignore[call-arg]
    TableFieldCreate(name="a", json_type="text")  # type: ignore[arg-type]

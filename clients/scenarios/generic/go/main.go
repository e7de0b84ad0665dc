package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"scenario/rowhouse"
)

const wide = "9007199254740993"

func expect(isTrue bool, what string, values ...any) {
	if !isTrue {
		panic(fmt.Sprint(what, values))
	}
}

func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Returns the body of a call that fails with the status.
func failure[T any](status int) func(value T, response *http.Response, err error) rowhouse.ErrorInfo {
	return func(_ T, response *http.Response, err error) rowhouse.ErrorInfo {
		expect(response.StatusCode == status, "status", response.StatusCode)
		body := err.(*rowhouse.GenericOpenAPIError).Model().(rowhouse.ErrorResponse)
		return body.Error
	}
}

func withToken(name string) *rowhouse.DataAPIService {
	configuration := rowhouse.NewConfiguration()
	configuration.Servers = rowhouse.ServerConfigurations{{URL: os.Getenv("ROWHOUSE_URL")}}
	configuration.DefaultHeader["Authorization"] = "Bearer " + os.Getenv(name)
	return rowhouse.NewAPIClient(configuration).DataAPI
}

type record = map[string]any

func field(name string, jsonType rowhouse.JsonType) rowhouse.TableFieldCreate {
	return *rowhouse.NewTableFieldCreate(name, jsonType)
}

func main() {
	ctx := context.Background()
	api := withToken("ROWHOUSE_TOKEN")

	me := must(api.ReadIdentity(ctx).Execute()).Data
	expect(me.Name == "main" && len(me.Tables) == 6, "identity", me)
	expect(me.Permissions.Actions[1] == rowhouse.WRITE, "actions", me)

	page := must(api.ListRecords(ctx, "Album").Size(2).Order("-Title").Execute()).Data
	expect(page.Total == 5 && page.Rows[0]["Title"] == "Restless and Wild", "page", page)
	found := must(api.ListRecords(ctx, "Album").Q("rock").Page(1).Execute()).Data
	expect(len(found.Rows) == 2, "search", found)
	schema := must(api.ReadTableSchema(ctx, "Album").Execute()).Data
	expect(schema.PrimaryKey == "AlbumId" && schema.Fields[0].JsonType == rowhouse.INTEGER, "schema", schema)
	link := must(api.ReadRecord(ctx, "PlaylistTrack", "1,2").Execute()).Data
	expect(link["TrackId"] == 2.0, "composite key", link)

	table := rowhouse.NewTableCreate("orders", []rowhouse.TableFieldCreate{
		field("customer", rowhouse.STRING), field("quantity", rowhouse.INTEGER), field("price", rowhouse.NUMBER), field("note", rowhouse.STRING),
	})
	table.Fields[0].SetNullable(false)
	table.SetAutoTimestamps(true)
	created := must(api.CreateTable(ctx).TableCreate(*table).Execute()).Data
	expect(created.Name == "orders" && created.CreatedAt > 1<<40, "table", created)
	paid := field("paid", rowhouse.BOOLEAN)
	paid.SetNullable(false)
	paid.SetDefaultValue(false)
	extended := must(api.AddTableField(ctx, "orders").TableFieldAddition(*rowhouse.NewTableFieldAddition(paid)).Execute()).Data
	expect(len(extended.Fields) == 8, "field", extended)

	order := must(api.CreateRecord(ctx, "orders").RequestBody(record{"customer": "Maria", "quantity": 2, "price": 12.5, "note": "as a gift"}).Execute()).Data
	expect(order["id"] == 1.0 && order["paid"] == false, "create", order)
	updated := must(api.UpdateRecord(ctx, "orders", "1").RequestBody(record{"note": nil, "paid": true}).Execute()).Data
	expect(updated.Success && updated.Record == nil, "update", updated)
	read := must(api.ReadRecord(ctx, "orders", "1").Execute()).Data
	expect(read["note"] == nil && read["price"] == 12.5, "read", read)
	repriced := must(api.UpdateRecord(ctx, "orders", "1").Return_("record").RequestBody(record{"price": 10}).Execute()).Data
	expect(repriced.Record["price"] == 10.0, "return", repriced)
	increment := rowhouse.NewTableRecordIncrement("1", "quantity")
	counted := must(api.IncrementRecord(ctx, "orders").TableRecordIncrement(*increment).Execute()).Data
	expect(counted.Success, "increment by one", counted)
	increment.SetCount(3)
	increased := must(api.IncrementRecord(ctx, "orders").Return_("record").TableRecordIncrement(*increment).Execute()).Data
	expect(increased.Record["quantity"] == 6.0, "increment", increased)
	exact := must(api.CreateRecord(ctx, "orders").RequestBody(record{"customer": "Jonas", "quantity": wide}).Execute()).Data
	expect(exact["quantity"] == wide, "wide integer", exact)

	deleted := must(api.DeleteRecord(ctx, "orders", "1").Execute()).Data
	expect(deleted.Success, "delete", deleted)
	missing := failure[*rowhouse.TableRecordEnvelope](404)(api.ReadRecord(ctx, "orders", "1").Execute())
	expect(missing.Code == rowhouse.RECORD_NOT_FOUND, "404", missing)
	invalid := failure[*rowhouse.TableRecordEnvelope](400)(api.CreateRecord(ctx, "orders").RequestBody(record{"customer": 5}).Execute())
	expect(invalid.Details[0].Path == "/customer", "400", invalid)
	forbidden := failure[*rowhouse.TableRecordEnvelope](403)(withToken("ROWHOUSE_READER_TOKEN").CreateRecord(ctx, "orders").RequestBody(record{"customer": "Eva"}).Execute())
	expect(forbidden.Code == rowhouse.ACTION_NOT_ALLOWED, "403", forbidden)
	unknown := failure[*rowhouse.TokenIdentityEnvelope](401)(withToken("NO_TOKEN").ReadIdentity(ctx).Execute())
	expect(unknown.Code == rowhouse.INVALID_TOKEN, "401", unknown)
}

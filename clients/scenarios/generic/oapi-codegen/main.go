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

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func withToken(name string) *rowhouse.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv(name))
		return nil
	}
	return must(rowhouse.NewClientWithResponses(os.Getenv("ROWHOUSE_URL"), rowhouse.WithRequestEditorFn(authorize)))
}

func to[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	api := withToken("ROWHOUSE_TOKEN")

	health := must(api.CheckLivenessWithResponse(ctx))
	expect(health.JSON200.Data.Status == "ok", "health")
	me := must(api.ReadIdentityWithResponse(ctx)).JSON200.Data
	expect(me.Name == "main" && len(me.Tables) == 6, "identity", me)
	expect(me.Permissions.Actions[1] == rowhouse.Write, "actions", me)

	page := must(api.ListRecordsWithResponse(ctx, "Album", &rowhouse.ListRecordsParams{Size: to(int32(2)), Order: to("-Title")})).JSON200.Data
	expect(page.Total == 5 && page.Rows[0]["Title"] == "Restless and Wild", "page", page)
	found := must(api.ListRecordsWithResponse(ctx, "Album", &rowhouse.ListRecordsParams{Q: to("rock"), Page: to(int32(1))})).JSON200.Data
	expect(len(found.Rows) == 2, "search", found)
	schema := must(api.ReadTableSchemaWithResponse(ctx, "Album")).JSON200.Data
	expect(schema.PrimaryKey == "AlbumId" && schema.Fields[0].JsonType == rowhouse.JsonTypeInteger, "schema", schema)
	link := must(api.ReadRecordWithResponse(ctx, "PlaylistTrack", "1,2", nil)).JSON200.Data
	expect(link["TrackId"] == 2.0, "composite key", link)

	created := must(api.CreateTableWithResponse(ctx, rowhouse.TableCreate{
		Name:  "orders",
		Label: to("Orders"),
		Fields: []rowhouse.TableFieldCreate{
			{Name: "customer", JsonType: rowhouse.JsonTypeString, Nullable: to(false)},
			{Name: "quantity", JsonType: rowhouse.JsonTypeInteger},
			{Name: "price", JsonType: rowhouse.JsonTypeNumber},
			{Name: "note", JsonType: rowhouse.JsonTypeString},
		},
		AutoTimestamps: to(true),
	})).JSON200.Data
	expect(created.Name == "orders" && created.CreatedAt > 1<<40, "table", created)
	extended := must(api.AddTableFieldWithResponse(ctx, "orders", rowhouse.TableFieldAddition{
		Field: rowhouse.TableFieldCreate{Name: "paid", JsonType: rowhouse.JsonTypeBoolean, Nullable: to(false), DefaultValue: false},
	})).JSON200.Data
	expect(len(extended.Fields) == 8, "field", extended)

	order := must(api.CreateRecordWithResponse(ctx, "orders", nil, rowhouse.TableRecordInput{"customer": "Maria", "quantity": 2, "price": 12.5, "note": "as a gift"})).JSON200.Data
	expect(order["id"] == 1.0 && order["paid"] == false, "create", order)
	updated := must(api.UpdateRecordWithResponse(ctx, "orders", "1", nil, rowhouse.TableRecordInput{"note": nil, "paid": true})).JSON200.Data
	expect(updated.Success && updated.Record == nil, "update", updated)
	read := must(api.ReadRecordWithResponse(ctx, "orders", "1", nil)).JSON200.Data
	expect(read["note"] == nil && read["price"] == 12.5, "read", read)
	repriced := must(api.UpdateRecordWithResponse(ctx, "orders", "1", &rowhouse.UpdateRecordParams{Return: to(rowhouse.UpdateRecordParamsReturnRecord)}, rowhouse.TableRecordInput{"price": 10})).JSON200.Data
	expect((*repriced.Record)["price"] == 10.0, "return", repriced)
	increased := must(api.IncrementRecordWithResponse(ctx, "orders", &rowhouse.IncrementRecordParams{Return: to(rowhouse.IncrementRecordParamsReturnRecord)}, rowhouse.TableRecordIncrement{Pk: "1", Field: "quantity", Count: to(3.0)})).JSON200.Data
	expect((*increased.Record)["quantity"] == 5.0, "increment", increased)
	counted := must(api.IncrementRecordWithResponse(ctx, "orders", nil, rowhouse.TableRecordIncrement{Pk: "1", Field: "quantity"})).JSON200.Data
	expect(counted.Success, "increment by one", counted)
	exact := must(api.CreateRecordWithResponse(ctx, "orders", nil, rowhouse.TableRecordInput{"customer": "Jonas", "quantity": wide})).JSON200.Data
	expect(exact["quantity"] == wide, "wide integer", exact)

	deleted := must(api.DeleteRecordWithResponse(ctx, "orders", "1", nil)).JSON200.Data
	expect(deleted.Success, "delete", deleted)
	missing := must(api.ReadRecordWithResponse(ctx, "orders", "1", nil))
	expect(missing.StatusCode() == 404 && missing.JSON404.Error.Code == rowhouse.RECORDNOTFOUND, "404", missing)
	invalid := must(api.CreateRecordWithResponse(ctx, "orders", nil, rowhouse.TableRecordInput{"customer": 5}))
	expect((*invalid.JSON400.Error.Details)[0].Path == "/customer", "400", invalid)
	forbidden := must(withToken("ROWHOUSE_READER_TOKEN").CreateRecordWithResponse(ctx, "orders", nil, rowhouse.TableRecordInput{"customer": "Eva"}))
	expect(forbidden.JSON403.Error.Code == rowhouse.ACTIONNOTALLOWED, "403", forbidden)
	unknown := must(withToken("NO_TOKEN").ReadIdentityWithResponse(ctx))
	expect(unknown.JSON401.Error.Code == rowhouse.INVALIDTOKEN, "401", unknown)
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"scenario/rowhouse"
)

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

func main() {
	ctx := context.Background()
	configuration := rowhouse.NewConfiguration()
	configuration.Servers = rowhouse.ServerConfigurations{{URL: os.Getenv("ROWHOUSE_URL")}}
	configuration.DefaultHeader["Authorization"] = "Bearer " + os.Getenv("ROWHOUSE_TOKEN")
	client := rowhouse.NewAPIClient(configuration)
	api := client.TrackAPI

	page := must(api.ListTrack(ctx).Order("-UnitPrice").Size(1).Execute()).Data
	expect(page.Rows[0].UnitPrice == 1.29, "page", page)
	link := must(client.PlaylistTrackAPI.ReadPlaylistTrack(ctx, 1, 2).Execute()).Data
	expect(link.PlaylistId == 1 && link.TrackId == 2, "composite key", link)
	query := rowhouse.NewEmployeeQuery()
	query.SetExpand([]string{"ReportsTo"})
	found := must(client.EmployeeAPI.QueryEmployee(ctx).EmployeeQuery(*query).Execute()).Data.Rows
	expect(found[0].Expand.ReportsTo.Get() == nil, "expand", found[0])
	expect(found[0].HireDate.Get() != nil && *found[0].HireDate.Get() == "2002-08-14" && found[1].HireDate.Get() == nil, "date", found)
	expect(found[1].Expand.ReportsTo.Get().LastName == "Adams", "expand", found[1])
	length := rowhouse.NewTrackAggregateFunction()
	length.SetSum("Milliseconds")
	totals := rowhouse.NewTrackAggregate(map[string]rowhouse.TrackAggregateFunction{"length": *length})
	totals.SetGroupBy([]string{"AlbumId"})
	rows := must(api.AggregateTrack(ctx).TrackAggregate(*totals).Execute()).Data.Rows
	expect(rows[0]["length"] == 343719.0, "aggregate", rows)
	exported := must(api.ExportTrack(ctx).Fields("Name").Q("Rock").Execute())
	expect(strings.Contains(exported, "For Those About To Rock"), "export", exported)
	values := rowhouse.NewTrackCreate("Dog Eat Dog", 215196, 0.99)
	values.SetAlbumId(4)
	imported := must(api.ImportTrack(ctx).TrackCreate([]rowhouse.TrackCreate{*values}).DryRun(true).Execute()).Data
	expect(imported.Created == 1, "import", imported)
	created := must(api.CreateTrack(ctx).TrackCreate(*values).Execute()).Data
	expect(created.TrackId == 4 && created.Bytes.Get() == nil, "create", created)
	changes := rowhouse.NewTrackUpdate()
	changes.SetAlbumIdNil()
	updated := must(api.UpdateTrack(ctx, 4).TrackUpdate(*changes).Return_("record").Execute()).Data
	expect(updated.Record.Name == "Dog Eat Dog" && updated.Record.AlbumId.Get() == nil, "update", updated)
	increment := rowhouse.NewTrackAddition("Milliseconds")
	increment.SetCount(4)
	increased := must(api.AddToTrack(ctx, 4).TrackAddition(*increment).Return_("record").Execute()).Data
	expect(increased.Record.Milliseconds == 215200, "increment", increased)
	deleted := must(api.DeleteTrack(ctx, 4).Execute()).Data
	expect(deleted.Success, "delete", deleted)
	_, _, err := api.ReadTrack(ctx, 4).Execute()
	missing := err.(*rowhouse.GenericOpenAPIError).Model().(rowhouse.ErrorResponse).Error
	expect(missing.Code == rowhouse.RECORD_NOT_FOUND, "404", missing)
}

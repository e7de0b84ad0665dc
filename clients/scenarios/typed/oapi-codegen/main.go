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

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func authorize(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("ROWHOUSE_TOKEN"))
	return nil
}

func to[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	api := must(rowhouse.NewClientWithResponses(os.Getenv("ROWHOUSE_URL"), rowhouse.WithRequestEditorFn(authorize)))

	page := must(api.ListTrackWithResponse(ctx, &rowhouse.ListTrackParams{Order: to("-UnitPrice"), Size: to(int32(1))})).JSON200.Data
	expect(page.Rows[0].UnitPrice == 1.29, "page", page)
	link := must(api.ReadPlaylistTrackWithResponse(ctx, 1, 2)).JSON200.Data
	expect(link.PlaylistId == 1 && link.TrackId == 2, "composite key", link)
	query := rowhouse.EmployeeQuery{Expand: to([]string{"ReportsTo"})}
	found := must(api.QueryEmployeeWithResponse(ctx, query)).JSON200.Data.Rows
	expect(found[0].Expand.ReportsTo == nil, "expand", found[0])
	expect(found[0].HireDate.Year() == 2002 && found[1].HireDate == nil, "date", found)
	expect(found[1].Expand.ReportsTo.LastName == "Adams", "expand", found[1])
	length := rowhouse.TrackAggregateFunction{Sum: to(rowhouse.TrackAggregateFunctionSumMilliseconds)}
	totals := rowhouse.TrackAggregate{
		GroupBy: to([]rowhouse.TrackAggregateGroupBy{rowhouse.TrackAggregateGroupByAlbumId}),
		Compute: map[string]rowhouse.TrackAggregateFunction{"length": length},
	}
	rows := must(api.AggregateTrackWithResponse(ctx, totals)).JSON200.Data.Rows
	expect(rows[0]["length"] == 343719.0, "aggregate", rows)
	exported := must(api.ExportTrackWithResponse(ctx, &rowhouse.ExportTrackParams{Fields: to("Name"), Q: to("Rock")}))
	expect(strings.Contains(string(exported.Body), "For Those About To Rock"), "export", exported)
	values := rowhouse.TrackCreate{Name: "Dog Eat Dog", Milliseconds: 215196, UnitPrice: 0.99, AlbumId: to(int64(4))}
	dry := &rowhouse.ImportTrackParams{DryRun: to(true)}
	imported := must(api.ImportTrackWithResponse(ctx, dry, []rowhouse.TrackCreate{values})).JSON200.Data
	expect(imported.Created == 1, "import", imported)
	created := must(api.CreateTrackWithResponse(ctx, values)).JSON200.Data
	expect(created.TrackId == 4 && created.Bytes == nil, "create", created)
	returning := rowhouse.UpdateTrackParamsReturnRecord
	updated := must(api.UpdateTrackWithResponse(ctx, 4, &rowhouse.UpdateTrackParams{Return: &returning}, rowhouse.TrackUpdate{Name: to("Overdose")})).JSON200.Data
	expect(updated.Record.Name == "Overdose" && *updated.Record.AlbumId == 4, "update", updated)
	increased := must(api.AddToTrackWithResponse(ctx, 4, nil, rowhouse.TrackAddition{Field: rowhouse.TrackAdditionFieldMilliseconds})).JSON200.Data
	expect(increased.Success, "increment", increased)
	deleted := must(api.DeleteTrackWithResponse(ctx, 4, nil)).JSON200.Data
	expect(deleted.Success, "delete", deleted)
	missing := must(api.ReadTrackWithResponse(ctx, 4))
	expect(missing.JSON404.Error.Code == rowhouse.RECORDNOTFOUND, "404", missing)
}

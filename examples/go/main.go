package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"example/shop"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func to[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("ROWHOUSE_TOKEN"))
		return nil
	}
	client := must(shop.NewClientWithResponses(os.Getenv("ROWHOUSE_URL"), shop.WithRequestEditorFn(authorize)))

	// A field that does not exist, or a value of another type, does not compile.
	notebook := shop.ProductsCreate{Sku: "note/a5", Title: "Notebook A5", Price: to(6.5)}
	if created := must(client.CreateProductsWithResponse(ctx, notebook)); created.JSON200 == nil {
		panic(string(created.Body))
	}

	search := shop.ListProductsParams{Q: to("a5"), Order: to("-price")}
	for _, product := range must(client.ListProductsWithResponse(ctx, &search)).JSON200.Data.Rows {
		fmt.Printf("%s: %.2f\n", product.Title, *product.Price)
	}

	// The token says `integers: number`: an int64 has every integer of SQLite.
	twelve := shop.ProductsAddition{Field: shop.ProductsAdditionFieldStock, Count: to(12.0)}
	record := shop.AddToProductsParams{Return: to(shop.AddToProductsParamsReturnRecord)}
	changed := must(client.AddToProductsWithResponse(ctx, "note/a5", &record, twelve)).JSON200.Data
	fmt.Printf("In stock: %d\n", *changed.Record.Stock)

	// Each part of a composite key has its own name and type.
	line := must(client.ReadOrderLinesWithResponse(ctx, 1, "ink")).JSON200.Data
	fmt.Printf("Ordered: %d × %s\n", *line.Quantity, *line.Sku)

	// A failure has the field of its status, and the others are in JSONDefault.
	missing := must(client.ReadProductsWithResponse(ctx, "gone"))
	if missing.JSON404 == nil || missing.JSON404.Error.Code != shop.RECORDNOTFOUND {
		panic("A missing product was found.")
	}
	fmt.Println(missing.JSON404.Error.Message)
}

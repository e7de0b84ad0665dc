import os
from typing import TypeVar

from shop import AuthenticatedClient
from shop.api.order_lines import read_order_lines
from shop.api.products import add_to_products, create_products, list_products, read_products
from shop.models import (
    AddToProductsReturn,
    ErrorResponse,
    ProductsAddition,
    ProductsAdditionField,
    ProductsCreate,
)

T = TypeVar("T")

client = AuthenticatedClient(
    base_url=os.environ.get("ROWHOUSE_URL", "http://127.0.0.1:3000"), token=os.environ["ROWHOUSE_TOKEN"]
)


def success(response: T | ErrorResponse | None) -> T:
    """Returns a success. Each failure has the same shape, with a stable code."""
    if response is None or isinstance(response, ErrorResponse):
        raise RuntimeError(response.error.message if response else "The response is not JSON.")
    return response


# mypy reports a field that does not exist, and a value of another type.
notebook = ProductsCreate(sku="note/a5", title="Notebook A5", price=6.5)
success(create_products.sync(client=client, body=notebook))

for product in success(list_products.sync(client=client, q="a5", order="-price")).data.rows:
    print(f"{product.title}: {product.price:.2f}" if product.price is not None else product.title)

# The token says `integers: number`: integers of Python are exact at every size.
twelve = ProductsAddition(field=ProductsAdditionField.STOCK, count=12)
changed = success(add_to_products.sync("note/a5", client=client, body=twelve, return_=AddToProductsReturn.RECORD)).data
print(f"In stock: {changed.record.stock if changed.record else None}")

# Each part of a composite key has its own name and type.
line = success(read_order_lines.sync(1, "ink", client=client)).data
print(f"Ordered: {line.quantity} × {line.sku}")

missing = read_products.sync("gone", client=client)
if not isinstance(missing, ErrorResponse) or missing.error.code != "RECORD_NOT_FOUND":
    raise RuntimeError("A missing product was found.")
print(missing.error.message)

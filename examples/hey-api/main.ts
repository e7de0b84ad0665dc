import { createClient, createConfig } from './client/client/index.js'
import * as shop from './client/sdk.gen.js'
import type { ProductsCreate } from './client/types.gen.js'

const { ROWHOUSE_URL: baseUrl = 'http://127.0.0.1:3000', ROWHOUSE_TOKEN: auth = '' } = process.env
const client = createClient(createConfig({ baseUrl, auth, throwOnError: true }))

// A field that does not exist, or a value of another type, does not compile.
const notebook: ProductsCreate = { sku: 'note/a5', title: 'Notebook A5', price: 6.5 }
await shop.createProducts({ client, body: notebook, throwOnError: true })

const { data: page } = await shop.listProducts({ client, query: { q: 'a5', order: '-price' }, throwOnError: true })
for (const { title, price } of page.data.rows) console.log(`${title}: ${price?.toFixed(2) ?? 'no price'}`)

// The token says `integers: string`: integers are exact at every size.
const { data: changed } = await shop.addToProducts({
  client,
  path: { sku: 'note/a5' },
  query: { return: 'record' },
  body: { field: 'stock', count: 12 },
  throwOnError: true
})
console.log(`In stock: ${BigInt(changed.data.record?.stock ?? 0)}`)

// Each part of a composite key has its own name and type.
const { data: line } = await shop.readOrderLines({ client, path: { order_id: '1', sku: 'ink' }, throwOnError: true })
console.log(`Ordered: ${line.data.quantity} × ${line.data.sku}`)

// Without `throwOnError`, a failure is a value. Its code is one of those in the document.
const missing = await shop.readProducts({ client, path: { sku: 'gone' }, throwOnError: false })
if (missing.error?.error.code !== 'RECORD_NOT_FOUND') throw new Error('A missing product was found.')
console.log(missing.error.error.message)

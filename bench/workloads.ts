export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body?: string
  /** Instead of the token of the load. */
  readonly token?: string
}

export interface Workload {
  readonly name: string
  /** Minimum throughput as a share of the constant route's; null: there is no target. */
  readonly target: number | null
  /** The target of a write only applies where an fsync is fast. */
  readonly isWrite: boolean
  request(): HttpRequest
}

export const ROWS = 100_000
const PAGE_SIZE = 20
/** The table that is read, updated and incremented. */
export const TABLE = 'items'
/** The table for creates. It is a second one, so that `items` keeps its number of rows. */
export const CREATE_TABLE = 'created_items'
/** Has the rows of `items`, and is not STRICT, as most tables of other programs. */
export const IMPORTED_TABLE = 'imported_items'
/** The rows of `items`, with an index on `qty`, which refers to a record of `brands`. */
export const QUERIED_TABLE = 'queried_items'
export const BRANDS_TABLE = 'brands'
export const CONSTANT_PATH = '/bench/constant'

const PAGES = ROWS / PAGE_SIZE

const between = (first: number, last: number) => first + Math.floor(Math.random() * (last - first + 1))
const randomKey = () => between(1, ROWS)
const page = (number: number, table = TABLE): HttpRequest => ({
  method: 'GET',
  path: `/data/${table}?page=${number}&size=${PAGE_SIZE}`
})

const nearStart = () => between(1, 5)

export const newItem = () => ({
  name: `Item ${randomKey()}`,
  price: between(0, 100_000) / 100,
  qty: between(0, 999),
  note: 'This note belongs to a new item, and is about a hundred characters long, as notes often are in tables.'
})

/** In the order in which a round runs them. Each share is relative to the constant route in the same round. */
export const workloads: readonly Workload[] = [
  { name: 'constant', target: null, isWrite: false, request: () => ({ method: 'GET', path: CONSTANT_PATH }) },
  {
    name: 'read',
    target: null,
    isWrite: false,
    request: () => ({ method: 'GET', path: `/data/${TABLE}/records/${randomKey()}` })
  },
  { name: 'list', target: 0.25, isWrite: false, request: () => page(nearStart()) },
  { name: 'middle', target: 0.2, isWrite: false, request: () => page(between(PAGES * 0.4, PAGES * 0.6)) },
  // The cost of HTTP alone in a write: the body is read and validated as in create, and the response is the constant.
  {
    name: 'posted constant',
    target: null,
    isWrite: true,
    request: () => ({ method: 'POST', path: CONSTANT_PATH, body: JSON.stringify(newItem()) })
  },
  {
    name: 'create',
    target: 0.55,
    isWrite: true,
    request: () => ({ method: 'POST', path: `/data/${CREATE_TABLE}/records`, body: JSON.stringify(newItem()) })
  },
  {
    name: 'update',
    target: 0.5,
    isWrite: true,
    request: () => ({
      method: 'PUT',
      path: `/data/${TABLE}/records/${randomKey()}`,
      body: JSON.stringify({ price: between(0, 100_000) / 100, qty: between(0, 999) })
    })
  },
  {
    name: 'incr',
    target: 0.5,
    isWrite: true,
    request: () => ({
      method: 'POST',
      path: `/data/${TABLE}/incr`,
      body: JSON.stringify({ pk: String(randomKey()), field: 'qty', count: 1 })
    })
  }
]

/** Not in `workloads`: it is compared with `list`, not with the constant route. */
export const listImported: Workload = {
  name: 'list, imported table',
  target: null,
  isWrite: false,
  request: () => page(nearStart(), IMPORTED_TABLE)
}

/** A query of `queried_items` for one page. `body`: what else is in its body. */
export const queryOf = (name: string, body: () => object): Workload => ({
  name,
  target: null,
  isWrite: false,
  request: () => ({
    method: 'POST',
    path: `/data/${QUERIED_TABLE}/query`,
    body: JSON.stringify({ size: PAGE_SIZE, ...body() })
  })
})

const filteredBy = (name: string, parameters: string): Workload => ({
  name,
  target: null,
  isWrite: false,
  request: () => {
    const filter = encodeURIComponent(JSON.stringify({ where: { qty: { eq: between(0, 999) } } }))
    return { method: 'GET', path: `/data/${QUERIED_TABLE}?filter=${filter}&size=${PAGE_SIZE}${parameters}` }
  }
})

/** A list of `queried_items` that is filtered by an indexed field, without its total. */
export const filteredList = filteredBy('list with a filter', '&total=false')
export const filteredListWithTotal = filteredBy('list with a filter, total', '')

export const findWorkload = (name: string): Workload => {
  const found = workloads.find((candidate) => candidate.name === name)
  if (!found) throw new Error(`There is no workload '${name}'.`)
  return found
}

/** Enough to cover the keys of the table, and few enough for a generator to hold in memory. */
const REQUESTS = 32_000

export const requestsOf = ({ request }: Workload): readonly HttpRequest[] => Array.from({ length: REQUESTS }, request)

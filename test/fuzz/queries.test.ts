import t from 'tap'
import { type App, type Client, dataOf, type TestResponse } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { randomFilter } from './query-filters.ts'
import { compareRows, type ModelFilter, type ModelOrder, type ModelRow, matches } from './query-model.ts'
import { ROWS, type Served, startTables } from './query-service.ts'
import { type QueryColumn, type QueryTable, randomRow } from './query-tables.ts'
import { createRandom, type Random, SEED } from './random.ts'

const COUNT = scaled(3000)
const CHANGED_COUNT = scaled(1000)
const MAX_CONCURRENT = 10
const MAX_PAGES = 5
const SIZES = [1, 2, 3, 7, 20, 100]
/** The whole rest of a table. It is too large for the event loop. */
const LARGE = 500

type Record = { readonly [field: string]: unknown }

interface Page {
  readonly rows: readonly Record[]
  readonly next: string | null
  readonly total?: number
}

/** A random query, as a request and as the model needs it. */
interface Case {
  readonly filter: ModelFilter | undefined
  readonly order: readonly ModelOrder[]
  readonly body: { readonly [name: string]: unknown }
}

const totalOrder = ({ columns, key, rowid }: QueryTable, order: readonly ModelOrder[]) => {
  const last = [...new Set(rowid === null ? key : [...key, rowid])]
  const rowidColumn: QueryColumn = { ...(columns.get('uid') as QueryColumn), name: 'rowid' }
  const missing = last
    .filter((name) => order.every(({ column }) => column.name !== name))
    .map((name) => ({ column: columns.get(name) ?? rowidColumn, descending: false }))
  return [...order, ...missing]
}

const randomCase = (table: QueryTable, random: Random): Case => {
  const names = [...table.columns.keys()]
  const [sent, filter] = random.chance(0.25) ? [undefined, undefined] : randomFilter(table, random)
  const order = Array.from({ length: random.below(4) }, () => ({
    column: random.pick([...table.columns.values()]),
    descending: random.chance(0.5)
  })).filter(({ column }, index, all) => all.findIndex((other) => other.column === column) === index)
  const text = order.map(({ column, descending }) => `${descending ? '-' : ''}${column.name}`).join(',')
  const fields = random.chance(0.5) ? names.filter(() => random.chance(0.3)) : undefined
  return {
    filter,
    order: totalOrder(table, order),
    body: {
      ...(sent && { filter: sent }),
      ...(text !== '' && { order: text }),
      ...(fields && { fields }),
      ...(random.chance(0.2) && { total: true })
    }
  }
}

const toParameter = (value: unknown) => {
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const toQuery = (body: { readonly [name: string]: unknown }) =>
  new URLSearchParams(Object.entries(body).map(([name, value]): [string, string] => [name, toParameter(value)]))

/** Returns a function that sends a query to one of the routes. */
const senderOf = (random: Random, { table, id }: Served, admin: Client, token: Client, isGet: boolean) => {
  const isAdmin = random.chance(0.3)
  const client = isAdmin ? admin : token
  return (body: Case['body']): Promise<TestResponse> => {
    if (!isGet) return client.post(isAdmin ? `/admin/tables/${id}/query` : `/data/${table.name}/query`, body)
    const total = { total: body.total === true }
    return client.get(
      `${isAdmin ? `/admin/tables/${id}/data` : `/data/${table.name}`}?${toQuery({ ...body, ...total })}`
    )
  }
}

type Send = (body: Case['body']) => Promise<TestResponse>

interface Walk {
  readonly served: Served
  readonly query: Case
  readonly send: Send
  readonly random: Random
  /** Changes the table between two pages. */
  readonly change: (position: ModelRow) => void
  readonly expectRows: (found: readonly Record[], expected: readonly ModelRow[]) => boolean
}

/** Reads the pages of a query, and compares each with the model. Returns the first difference, or undefined. */
const walk = async ({ served, query, send, random, change, expectRows }: Walk) => {
  const { filter = {}, order, body } = query
  let cursor = ''
  let position: ModelRow | null = null
  for (let page = 0; ; page += 1) {
    const size = page >= MAX_PAGES ? LARGE : random.pick(SIZES)
    const response = await send({ ...body, size, cursor })
    if (response.statusCode !== 200) return { response: response.body, size, page }
    const { rows, next, total } = response.json().data as Page
    const matching = served.read().filter((row) => matches(served.table.columns, filter, row))
    const after = (row: ModelRow) => position === null || compareRows(order, row, position) > 0
    const rest = matching.filter(after).sort((a, b) => compareRows(order, a, b))
    const expected = rest.slice(0, size)
    if (!expectRows(rows, expected))
      return { rows, expected: expected.map((row) => Object.fromEntries(row)), size, page }
    if ((next === null) !== rest.length <= size) return { next, rest: rest.length, size, page }
    if (body.total === true && total !== matching.length) return { total, expected: matching.length }
    if (next === null) return undefined
    cursor = next
    position = expected.at(-1) as ModelRow
    change(position)
  }
}

const show = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
const toText = (value: unknown) => JSON.stringify(value, show)

const countReads = ({ database }: App) => {
  const counts = { read: 0, scan: 0 }
  const { read, scan } = database
  Object.assign(database, {
    read: (...args: Parameters<typeof read>) => {
      counts.read += 1
      return read(...args)
    },
    scan: (...args: Parameters<typeof scan>) => {
      counts.scan += 1
      return scan(...args)
    }
  })
  return counts
}

t.test('pages of random queries are those of the model', async (t) => {
  const random = createRandom(SEED)
  const { app, admin, token, tables } = await startTables(t, random)
  const records = new Map<string, ReadonlyMap<unknown, Record>>()
  for (const { table, id } of tables) {
    const { rows } = dataOf(await admin.get(`/admin/tables/${id}/data?size=${LARGE}`)) as Page
    records.set(table.name, new Map(rows.map((row) => [String(row.uid), row])))
  }
  const counts = countReads(app)
  const run = async (index: number) => {
    const random = createRandom(SEED + index)
    const served = random.pick(tables)
    const { name, key } = served.table
    const query = randomCase(served.table, random)
    const { fields } = query.body as { fields?: readonly string[] }
    // In a query string, an empty list of fields cannot be written.
    const isGet = fields?.length !== 0 && random.chance(0.3)
    const shown = (field: string) => fields === undefined || fields.includes(field) || key.includes(field)
    const pick = (row: ModelRow) => {
      const record = records.get(name)?.get(String(row.get('uid'))) ?? {}
      return Object.fromEntries(Object.entries(record).filter(([field]) => shown(field)))
    }
    const problem = await walk({
      served,
      query,
      send: senderOf(random, served, admin, token, isGet),
      random,
      change: () => {},
      expectRows: (found, expected) => toText(found) === toText(expected.map(pick))
    })
    if (problem) t.fail(`seed ${SEED}, case ${index}: ${name}, ${toText(query.body)}`, { problem: toText(problem) })
  }
  for (let index = 0; index < COUNT; index += MAX_CONCURRENT) {
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, (_, offset) => run(index + offset)))
  }
  t.comment(`seed ${SEED}: ${COUNT} queries, ${counts.read} reads on the event loop, ${counts.scan} scans`)
  t.ok(counts.read > COUNT / 20 && counts.scan > COUNT / 2)
})

t.test('inserts and deletes of another program before the position do not move a page', async (t) => {
  const random = createRandom(SEED + 1)
  const { admin, token, tables } = await startTables(t, random)
  let uid = ROWS
  for (let index = 0; index < CHANGED_COUNT; index += 1) {
    const served = random.pick(tables)
    const query = randomCase(served.table, random)
    const change = (position: ModelRow) => {
      if (random.chance(0.5)) {
        const before = served.read().filter((row) => compareRows(query.order, row, position) <= 0)
        served.remove(random.pick(before).get('uid') as bigint)
      }
      if (served.read().length > 2 * ROWS) return
      uid += 1
      served.insert(randomRow(served.table, random, uid))
    }
    const problem = await walk({
      served,
      // A cached total may miss the last commit of another program.
      query: { ...query, body: { ...query.body, fields: ['uid'], total: false } },
      send: senderOf(random, served, admin, token, random.chance(0.3)),
      random,
      change,
      expectRows: (found, expected) =>
        toText(found.map((row) => String(row.uid))) === toText(expected.map((row) => String(row.get('uid'))))
    })
    if (problem)
      t.fail(`seed ${SEED}, case ${index}: ${served.table.name}, ${toText(query.body)}`, { problem: toText(problem) })
  }
})

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { Field, Table } from '../schemas/table.ts'
import { parseCsv } from './csv.ts'
import {
  asAdmin,
  asToken,
  type Client,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse,
  temporaryDirectory
} from './helpers.ts'
import { type Oracle, openOracle, type Stored, type StoredRow } from './sqlite-oracle.ts'

const PAGE_SIZE = 250

type JsonRow = Record<string, unknown>

/** Returns the JSON value that the contract prescribes for a stored value. */
const toJson = (value: Stored, { jsonType }: Field): unknown => {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (jsonType === 'boolean' && (value === 0n || value === 1n)) return value === 1n
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}

const toJsonRow = ({ fields }: Table, row: StoredRow): JsonRow =>
  Object.fromEntries(fields.map((field, index) => [field.name, toJson(row[index] ?? null, field)]))

/** Compares rows, and prints only the first three that differ: a table may have thousands. */
const expectSameRows = <T>(t: Test, found: readonly T[], wanted: readonly T[], message: string) => {
  t.equal(found.length, wanted.length, `${message}: the same number of rows`)
  const first = found.findIndex((row, index) => !isDeepStrictEqual(row, wanted[index]))
  t.equal(first, -1, `${message}: the same values`)
  t.strictSame(found.slice(first, first + 3), wanted.slice(first, first + 3))
}

const pathOf = (table: Table, rest = '') => `/data/${encodeURIComponent(table.name)}${rest}`

/** Returns all rows, read page by page until a page is empty. */
const readAllPages = async (t: Test, token: Client, table: Table, total: number) => {
  const rows: JsonRow[] = []
  const totals = new Set<number>()
  for (let page = 1; ; page += 1) {
    const data = dataOf(await token.get(pathOf(table, `?page=${page}&size=${PAGE_SIZE}`)))
    totals.add(data.total)
    if (data.rows.length === 0) break
    rows.push(...data.rows)
  }
  t.strictSame([...totals], [total], `${table.name}: the total on every page`)
  return rows
}

/** Parses a cell as the type of the wanted value: CSV has neither types nor null. */
const fromCell = (cell: string, wanted: unknown): unknown => {
  if (typeof wanted === 'string') return cell
  return wanted === null ? cell || null : JSON.parse(cell)
}

const expectSameExport = async (t: Test, admin: Client, table: Table, wanted: readonly JsonRow[]) => {
  const response = await admin.get(`/admin/tables/${table.id}/export`)
  t.equal(response.statusCode, 200)
  const [header = [], ...lines] = await parseCsv(response.body)
  t.strictSame(
    header,
    table.fields.map(({ name }) => name),
    'the header names the fields'
  )
  const rows = lines.map((cells, line) =>
    Object.fromEntries(header.map((name, index) => [name, fromCell(String(cells[index]), wanted[line]?.[name])]))
  )
  expectSameRows(t, rows, wanted, 'the export')
}

interface Comparison {
  readonly admin: Client
  readonly token: Client
  /** Plain SQL on the file that the service serves. */
  readonly served: Oracle
  /** Plain SQL on a copy, which the tests change in the same way as the API changes the served file. */
  readonly mirror: Oracle
}

const startComparison = async (t: Test, original: string): Promise<Comparison> => {
  const directory = temporaryDirectory(t)
  const [file, copy] = [join(directory, 'served.sqlite'), join(directory, 'copy.sqlite')]
  copyFileSync(original, file)
  copyFileSync(original, copy)
  const app = await startApp(t, { env: { DATABASE: file } })
  const [served, mirror] = [openOracle(file), openOracle(copy)]
  t.teardown(() => {
    served.close()
    mirror.close()
  })
  const admin = await asAdmin(app)
  return { admin, token: await asToken(app, admin), served, mirror }
}

/** Asserts that the service accepted a change that SQLite accepted, and responded 409 to one that SQLite refused. */
const expectSameOutcome = (t: Test, response: TestResponse, isAccepted: boolean, message: string) => {
  t.equal(response.statusCode, isAccepted ? 200 : 409, `${message}: ${response.body}`)
}

const isNumber = (value: Stored) => value === null || typeof value === 'bigint' || typeof value === 'number'

const editField = async (t: Test, { token, mirror }: Comparison, table: Table, row: StoredRow, field: Field) => {
  const value = row[table.fields.indexOf(field)] ?? null
  const key = mirror.keyText(table, row)
  if (field.jsonType === 'string' && typeof value === 'string') {
    const edited = `${value} (edited)`
    const response = await token.put(pathOf(table, `/records/${encodeURIComponent(key)}`), { [field.name]: edited })
    expectSameOutcome(t, response, mirror.set(table, row, field.name, edited), `edit ${table.name}.${field.name}`)
  }
  if (['integer', 'number'].includes(field.jsonType) && isNumber(value)) {
    const response = await token.post(pathOf(table, '/incr'), { pk: key, field: field.name, count: 3 })
    expectSameOutcome(t, response, mirror.add(table, row, field.name, 3n), `increment ${table.name}.${field.name}`)
  }
}

/** Edits and increments the first row. Deletes the last row and creates it again from its own response. */
const changeRows = async (t: Test, comparison: Comparison, table: Table) => {
  const { token, mirror } = comparison
  const rows = mirror.rows(table)
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return
  const writable = table.fields.filter(({ isPrimary, isReadonly }) => !isPrimary && !isReadonly)
  for (const field of writable) await editField(t, comparison, table, first, field)

  const path = pathOf(table, `/records/${encodeURIComponent(mirror.keyText(table, last))}`)
  const record = dataOf(await token.get(path))
  const removed = mirror.remove(table, last)
  expectSameOutcome(t, await token.delete(path), removed, `delete from ${table.name}`)
  if (!removed) return
  expectError(t, await token.get(path), 404, 'RECORD_NOT_FOUND')
  const body = Object.fromEntries(
    table.fields.filter(({ isReadonly }) => !isReadonly).map(({ name }) => [name, record[name]])
  )
  expectSameOutcome(
    t,
    await token.post(pathOf(table, '/records'), body),
    mirror.insert(table, last),
    `create in ${table.name}`
  )
}

/** Serves a real database, of `rowCount` rows in all, and compares every response with SQLite itself. */
export const compareWithSqlite = async (t: Test, original: string, rowCount: number) => {
  const comparison = await startComparison(t, original)
  const { admin, token, served, mirror } = comparison
  const tables: Table[] = []
  const views: Table[] = []

  await t.test('every table and view can be imported', async (t) => {
    for (const name of mirror.names('table')) tables.push(await importTable(admin, name))
    for (const name of mirror.names('view')) views.push(await importTable(admin, name))
    for (const { name, fields } of [...tables, ...views])
      t.strictSame(
        fields.map((field) => field.name),
        mirror.columns(name),
        `the columns of ${name}`
      )
  })

  await t.test('every row of every page equals the row that SQLite returns', async (t) => {
    let count = 0
    for (const table of [...tables, ...views]) {
      const wanted = mirror.rows(table).map((row) => toJsonRow(table, row))
      expectSameRows(t, await readAllPages(t, token, table, wanted.length), wanted, table.name)
      if (table.kind === 'table') count += wanted.length
    }
    t.equal(count, rowCount, 'rows in all')
  })

  await t.test('every export has the values that SQLite returns', async (t) => {
    for (const table of [...tables, ...views])
      await expectSameExport(
        t,
        admin,
        table,
        mirror.rows(table).map((row) => toJsonRow(table, row))
      )
  })

  await t.test('updates, increments, deletes and creates have the effect of the same SQL', async (t) => {
    for (const table of tables) await changeRows(t, comparison, table)
    for (const table of tables) expectSameRows(t, served.rows(table), mirror.rows(table), `${table.name} in the file`)
    for (const table of tables) {
      const wanted = mirror.rows(table).map((row) => toJsonRow(table, row))
      expectSameRows(t, await readAllPages(t, token, table, wanted.length), wanted, table.name)
    }
  })
}

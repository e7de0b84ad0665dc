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

/** A stored value as the contract says that it leaves. */
const toJson = (value: Stored, { jsonType }: Field): unknown => {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (jsonType === 'boolean' && (value === 0n || value === 1n)) return value === 1n
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}

const toJsonRow = ({ fields }: Table, row: StoredRow): JsonRow =>
  Object.fromEntries(fields.map((field, index) => [field.name, toJson(row[index] ?? null, field)]))

/** Shows the first rows that differ, since a table may have thousands. */
const sameRows = <T>(t: Test, found: readonly T[], wanted: readonly T[], says: string) => {
  t.equal(found.length, wanted.length, `${says}: as many rows`)
  const first = found.findIndex((row, index) => !isDeepStrictEqual(row, wanted[index]))
  t.equal(first, -1, `${says}: the same values`)
  t.strictSame(found.slice(first, first + 3), wanted.slice(first, first + 3))
}

const pathOf = (table: Table, rest = '') => `/data/${encodeURIComponent(table.name)}${rest}`

/** All rows, page by page until there is an empty one. */
const walk = async (t: Test, token: Client, table: Table, total: number) => {
  const rows: JsonRow[] = []
  const totals = new Set<number>()
  for (let page = 1; ; page += 1) {
    const answer = dataOf(await token.get(pathOf(table, `?page=${page}&size=${PAGE_SIZE}`)))
    totals.add(answer.total)
    if (answer.rows.length === 0) break
    rows.push(...answer.rows)
  }
  t.strictSame([...totals], [total], `${table.name}: the total on every page`)
  return rows
}

/** A cell read back as the value that it came from: CSV has neither types nor null. */
const fromCell = (cell: string, wanted: unknown): unknown => {
  if (typeof wanted === 'string') return cell
  return wanted === null ? cell || null : JSON.parse(cell)
}

const sameExport = async (t: Test, admin: Client, table: Table, wanted: readonly JsonRow[]) => {
  const answer = await admin.get(`/admin/tables/${table.id}/export?escape=false`)
  t.equal(answer.statusCode, 200)
  const [header = [], ...lines] = await parseCsv(answer.body)
  t.strictSame(
    header,
    table.fields.map(({ name }) => name),
    'the header names the fields'
  )
  const rows = lines.map((cells, line) =>
    Object.fromEntries(header.map((name, index) => [name, fromCell(String(cells[index]), wanted[line]?.[name])]))
  )
  sameRows(t, rows, wanted, 'the export')
}

interface Stage {
  readonly admin: Client
  readonly token: Client
  /** SQLite on the file that the service serves. */
  readonly served: Oracle
  /** SQLite on a copy, which undergoes the same changes by SQL of our own. */
  readonly mirror: Oracle
}

const startStage = async (t: Test, original: string): Promise<Stage> => {
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

/** The service lets happen what SQLite lets happen, and refuses the rest as a conflict. */
const agrees = (t: Test, answer: TestResponse, allowed: boolean, says: string) => {
  t.equal(answer.statusCode, allowed ? 200 : 409, `${says}: ${answer.body}`)
}

const isNumber = (value: Stored) => value === null || typeof value === 'bigint' || typeof value === 'number'

const editField = async (t: Test, { token, mirror }: Stage, table: Table, row: StoredRow, field: Field) => {
  const value = row[table.fields.indexOf(field)] ?? null
  const key = mirror.keyText(table, row)
  if (field.jsonType === 'string' && typeof value === 'string') {
    const edited = `${value} (edited)`
    const answer = await token.put(pathOf(table, `/records/${encodeURIComponent(key)}`), { [field.name]: edited })
    agrees(t, answer, mirror.set(table, row, field.name, edited), `edit ${table.name}.${field.name}`)
  }
  if (['integer', 'number'].includes(field.jsonType) && isNumber(value)) {
    const answer = await token.post(pathOf(table, '/incr'), { pk: key, field: field.name, count: 3 })
    agrees(t, answer, mirror.add(table, row, field.name, 3n), `increment ${table.name}.${field.name}`)
  }
}

/** Edits and increments the first row, deletes the last, and sends it back as it was read. */
const changeRows = async (t: Test, stage: Stage, table: Table) => {
  const { token, mirror } = stage
  const rows = mirror.rows(table)
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return
  const writable = table.fields.filter(({ isPrimary, isReadonly }) => !isPrimary && !isReadonly)
  for (const field of writable) await editField(t, stage, table, first, field)

  const path = pathOf(table, `/records/${encodeURIComponent(mirror.keyText(table, last))}`)
  const record = dataOf(await token.get(path))
  const removed = mirror.remove(table, last)
  agrees(t, await token.delete(path), removed, `delete from ${table.name}`)
  if (!removed) return
  expectError(t, await token.get(path), 404, 'RECORD_NOT_FOUND')
  const body = Object.fromEntries(
    table.fields.filter(({ isReadonly }) => !isReadonly).map(({ name }) => [name, record[name]])
  )
  agrees(t, await token.post(pathOf(table, '/records'), body), mirror.insert(table, last), `create in ${table.name}`)
}

/** Puts a database that nobody here wrote behind the API and holds every answer against SQLite itself. */
export const proveRealDatabase = async (t: Test, original: string, rowCount: number) => {
  const stage = await startStage(t, original)
  const { admin, token, served, mirror } = stage
  const tables: Table[] = []

  await t.test('every table can be imported, no view can', async (t) => {
    for (const name of mirror.names('table')) tables.push(await importTable(admin, name))
    for (const { name, fields } of tables)
      t.strictSame(
        fields.map((field) => field.name),
        mirror.columns(name),
        `the columns of ${name}`
      )
    for (const name of mirror.names('view'))
      expectError(t, await admin.post('/admin/tables/import', { name }), 400, 'TABLE_NOT_IMPORTABLE')
  })

  await t.test('every row of every page is what SQLite returns', async (t) => {
    let count = 0
    for (const table of tables) {
      const wanted = mirror.rows(table).map((row) => toJsonRow(table, row))
      sameRows(t, await walk(t, token, table, wanted.length), wanted, table.name)
      count += wanted.length
    }
    t.equal(count, rowCount, 'rows in all')
  })

  await t.test('every table is exported to the same values', async (t) => {
    for (const table of tables)
      await sameExport(
        t,
        admin,
        table,
        mirror.rows(table).map((row) => toJsonRow(table, row))
      )
  })

  await t.test('edits, increments, deletions and creations do what the same SQL does', async (t) => {
    for (const table of tables) await changeRows(t, stage, table)
    for (const table of tables) sameRows(t, served.rows(table), mirror.rows(table), `${table.name} in the file`)
    for (const table of tables) {
      const wanted = mirror.rows(table).map((row) => toJsonRow(table, row))
      sameRows(t, await walk(t, token, table, wanted.length), wanted, table.name)
    }
  })
}

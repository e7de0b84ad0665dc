import fc from 'fast-check'
import t from 'tap'
import type { NewField } from '../../schemas/new-table.ts'
import type { JsonType } from '../../schemas/table.ts'
import { asAdmin, client, createDatabase, createTable, dataOf, importTable, logIn, startApp } from '../helpers.ts'
import { isOnCluster } from '../rqlite/cluster.ts'
import { scaled } from '../scale.ts'
import { openServed } from '../served.ts'

// A table, its export, and a copy of the table into which the export is imported: both have the same export.

/** A value as SQL stores it. */
type Value = null | bigint | number | string | Uint8Array

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((value) => value.replaceAll('\0', '')),
  fc.string({
    unit: fc.constantFrom('"', "'", ',', ';', '\t', '\r', '\n', '=', '+', ' ', 'a', '1', '\ufeff', '\u0001', '\u00a0'),
    maxLength: 8
  }),
  fc.constantFrom('', 'null', '5', '1.0', 'true', '-1e3', 'AAE=')
)
const integer = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -9n, max: 9n }))
const real = fc.double({ noNaN: true, noDefaultInfinity: true })
const bytes = fc.uint8Array({ maxLength: 9 })
const objects = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  .map((value) => JSON.stringify(value))
const arrays = fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }).map((value) => JSON.stringify(value))

interface KindOfColumn {
  readonly type: string
  readonly values: fc.Arbitrary<Value>
  /** Only in tables that are created through the API. */
  readonly jsonType?: JsonType
}

const typed: readonly KindOfColumn[] = [
  { type: 'INTEGER', values: integer, jsonType: 'integer' },
  { type: 'REAL', values: real, jsonType: 'number' },
  { type: 'TEXT', values: text, jsonType: 'string' },
  { type: 'BLOB', values: bytes, jsonType: 'string' }
]

const KINDS: Readonly<Record<string, readonly KindOfColumn[]>> = {
  API: [
    ...typed,
    { type: 'TEXT', values: objects, jsonType: 'object' },
    { type: 'TEXT', values: arrays, jsonType: 'array' },
    { type: 'INTEGER', values: fc.constantFrom(0n, 1n), jsonType: 'boolean' }
  ],
  STRICT: typed,
  'STRICT, WITHOUT ROWID': typed,
  '': [
    ...typed,
    { type: 'BOOLEAN', values: fc.constantFrom(0n, 1n) },
    { type: 'NUMERIC', values: fc.oneof(integer, real) },
    { type: 'DATE', values: fc.oneof(integer, real, text) },
    { type: '', values: fc.oneof(integer, real, text, bytes) }
  ]
}

/** Kinds of columns that can be the key of each table. */
const keys = typed.filter(({ type }) => type !== 'REAL' && type !== 'BLOB')

interface GeneratedTable {
  readonly options: string
  readonly key: KindOfColumn | null
  readonly columns: readonly KindOfColumn[]
  readonly rows: readonly (readonly Value[])[]
}

const rowsOf = (key: KindOfColumn | null, columns: readonly KindOfColumn[]) => {
  const nullable = columns.map(({ values }) => fc.option(values, { freq: 4 }))
  const row = fc.tuple(...(key ? [key.values] : []), ...nullable) as fc.Arbitrary<Value[]>
  const keyOf = ([first]: Value[]) => String(first instanceof Uint8Array ? Buffer.from(first).toString('hex') : first)
  return key ? fc.uniqueArray(row, { maxLength: 12, selector: keyOf }) : fc.array(row, { maxLength: 12 })
}

/** A cluster changes no table without a declared key. Those that the API creates have one. */
const needsKey = (options: string) => options.includes('WITHOUT') || (isOnCluster && options !== 'API')

const table = fc
  .record({ options: fc.constantFrom(...Object.keys(KINDS)), hasKey: fc.boolean() })
  .chain(({ options, hasKey }) =>
    fc.record({
      options: fc.constant(options),
      key: hasKey || needsKey(options) ? fc.constantFrom(...keys) : fc.constant(null),
      columns: fc.array(fc.constantFrom(...(KINDS[options] as readonly KindOfColumn[])), { minLength: 1, maxLength: 6 })
    })
  )
  .chain(
    ({ options, key, columns }): fc.Arbitrary<GeneratedTable> =>
      fc.record({
        options: fc.constant(options),
        key: fc.constant(key),
        columns: fc.constant(columns),
        rows: rowsOf(key, columns)
      })
  )

const file = createDatabase(t, 'PRAGMA journal_mode = WAL')
const app = await startApp(t, { env: { DATABASE: file } })
const db = openServed(t, file)
const admin = await asAdmin(app)
const csv = client(app, { ...(await logIn(app)), 'content-type': 'text/csv' })

let count = 0

type NamedColumn = readonly [name: string, kind: KindOfColumn]

const namedColumns = ({ key, columns }: GeneratedTable): readonly NamedColumn[] => [
  ...(key ? [['k', key] as const] : []),
  ...columns.map((kind, index) => [`c${index}`, kind] as const)
]

const toField = ([name, { type, jsonType }]: NamedColumn): NewField => ({
  name,
  jsonType: jsonType as JsonType,
  isPrimary: name === 'k',
  ...(type === 'BLOB' && { sqliteType: 'BLOB' as const })
})

/** Creates an empty table. Returns its id. */
const createOne = async (name: string, generated: GeneratedTable) => {
  const columns = namedColumns(generated)
  if (generated.options === 'API') return (await createTable(admin, { name, fields: columns.map(toField) })).id
  const declared = columns.map(
    ([column, { type }]) => `${column} ${type}${column === 'k' ? ' PRIMARY KEY NOT NULL' : ''}`
  )
  db.exec(`CREATE TABLE ${name} (${declared.join(', ')}) ${generated.options}`)
  return (await importTable(admin, name)).id
}

/** Creates the table with its rows, and an empty copy of it. Returns their ids. */
const create = async (generated: GeneratedTable) => {
  count += 1
  const ids = [await createOne(`t${count}`, generated), await createOne(`copy${count}`, generated)]
  const names = namedColumns(generated).map(([name]) => name)
  const insert = db.prepare(`INSERT INTO t${count} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
  for (const row of generated.rows) insert.run(...row)
  return ids
}

t.test('an export, an import and an export give the same bytes', async (t) => {
  const property = fc.asyncProperty(
    table,
    fc.constantFrom('', '?escape=formulas'),
    fc.boolean(),
    async (generated, query, hasMark) => {
      const [from, to] = await create(generated)
      const exportOf = async (id: number | undefined) => (await admin.get(`/admin/tables/${id}/export${query}`)).body
      const before = await exportOf(from)
      const imported = dataOf(
        await csv.post(`/admin/tables/${to}/import${query}`, `${hasMark ? '\ufeff' : ''}${before}`)
      )
      t.equal(imported.created, generated.rows.length)
      if ((await exportOf(to)) !== before) throw new Error(`The copy differs: ${await exportOf(to)} from ${before}`)
    }
  )
  const { failed, seed, errorInstance } = await fc.check(property, { numRuns: scaled(200), endOnFailure: true })
  t.notOk(failed, `seed ${seed}: ${String(errorInstance)}`)
})

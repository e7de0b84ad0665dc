import fc from 'fast-check'
import t, { type Test } from 'tap'
import {
  asAdmin,
  bearer,
  type Client,
  client,
  createDatabase,
  createTable,
  dataOf,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { type Contract, createContract, type ObjectSchema, type PropertySchema } from './typed-contract.ts'

// What the typed document promises is true of every real request and response, for every kind of column.

const COLUMNS = `big BIGINT, real_value REAL, double_value DOUBLE NOT NULL DEFAULT 1.5, decimal_value DECIMAL(10,2),
  text_value TEXT NOT NULL, short_text VARCHAR(5), bytes BLOB, anything, flag BOOLEAN, day DATE, moment DATETIME,
  settings JSON`

const ROW = `9007199254740993, 1, 2.5, 3, 'text', 'abc', x'0001ff', 5, 1, '2026-01-01', 1, '{"a":1}'`
const MISFITS = `'text', 'text', 'text', x'00', x'00', 5, 'text', x'00', 7, x'00', 'later', '[1]'`

const externalFile = createDatabase(
  t,
  `CREATE TABLE enforced (id INTEGER PRIMARY KEY, i INT NOT NULL, r REAL, t TEXT, b BLOB, a ANY) STRICT;
   INSERT INTO enforced VALUES (1, 9007199254740993, 1, '', x'', 1.5), (2, 1, 9e999, NULL, NULL, x'00');
   CREATE TABLE fitting (id INTEGER PRIMARY KEY, ${COLUMNS});
   INSERT INTO fitting VALUES (1, ${ROW}), (9007199254740993, ${ROW});
   CREATE TABLE misfits (id INTEGER PRIMARY KEY, ${COLUMNS});
   INSERT INTO misfits VALUES (1, ${ROW}), (2, ${MISFITS});
   CREATE TABLE computed (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, doubled INTEGER AS (n * 2) STORED, text TEXT AS (n || '!')) STRICT;
   INSERT INTO computed (n) VALUES (1);
   CREATE TABLE tags (tag TEXT PRIMARY KEY, uses INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
   INSERT INTO tags VALUES ('a,b', 1);
   CREATE TABLE "order items" (order_id INTEGER, "sku no" TEXT, quantity INTEGER NOT NULL, note TEXT DEFAULT (upper('a')), PRIMARY KEY (order_id, "sku no"));
   INSERT INTO "order items" VALUES (1, 'a,b', 2, NULL), ('one', '%', 3, 'text');
   CREATE TABLE keyless (n INTEGER, t TEXT) STRICT;
   INSERT INTO keyless VALUES (1, 'a');
   CREATE TABLE codes (code BLOB PRIMARY KEY NOT NULL, price NUMERIC DEFAULT 12) WITHOUT ROWID;
   INSERT INTO codes VALUES (x'00ff', 9007199254740993);
   CREATE TABLE limited (
     id INTEGER PRIMARY KEY,
     state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'done')),
     hint TEXT CHECK (hint IN ('a', 'b')),
     level INTEGER CHECK (level IN (1, 2, 3)),
     stars INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
     share REAL CHECK (share >= 0 AND share <= 1),
     name TEXT CHECK (length(name) BETWEEN 2 AND 4)
   ) STRICT;
   INSERT INTO limited (level, stars) VALUES (1, 3);`
)

const app = await startApp(t, { env: { DATABASE: externalFile } })
const admin = await asAdmin(app)
const imported = ['enforced', 'fitting', 'misfits', 'computed', 'tags', 'order items', 'keyless', 'codes', 'limited']
for (const name of imported) await importTable(admin, name)
await createTable(admin, {
  name: 'made',
  autoTimestamps: true,
  fields: [
    { name: 'flag', jsonType: 'boolean', nullable: false, defaultValue: true },
    { name: 'settings', jsonType: 'object' },
    { name: 'items', jsonType: 'array', defaultValue: [1] },
    { name: 'secret', jsonType: 'string', isHidden: true },
    { name: 'fixed', jsonType: 'integer', isReadonly: true, defaultValue: 5 },
    { name: 'price', jsonType: 'number', nullable: false }
  ]
})
const TABLES = [...imported, 'made']

const permissions = { tables: ['*'], actions: ['read', 'write'] }
const tokenWith = async (integers: string) =>
  client(app, bearer(dataOf(await admin.post('/admin/tokens', { name: 'client', permissions, integers })).token))

const typesOf = ({ type }: PropertySchema) => [type ?? []].flat()

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

/** Returns values that the schema accepts. An open schema stands for texts and numbers: its description says so. */
const generatedFrom = (schema: PropertySchema, integers: string): fc.Arbitrary<unknown> => {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const types = typesOf(schema)
  const options: fc.Arbitrary<unknown>[] = []
  const [low, high] = [schema.minimum as number | undefined, schema.maximum as number | undefined]
  if (types.length === 0) options.push(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  if (types.includes('null')) options.push(fc.constant(null))
  if (types.includes('boolean')) options.push(fc.boolean())
  if (types.includes('integer')) options.push(fc.integer({ min: low ?? -1000, max: high ?? 1000 }))
  if (types.includes('integer') && integers === 'number' && high === undefined) options.push(fc.bigInt(INT64))
  if (types.includes('number')) options.push(fc.double({ min: low ?? -1e9, max: high ?? 1e9, noNaN: true }))
  if (types.includes('object')) options.push(fc.dictionary(fc.string(), fc.integer()))
  if (types.includes('array')) options.push(fc.array(fc.string()))
  if (types.includes('string')) {
    if (schema.contentEncoding) options.push(fc.base64String())
    else if (schema.pattern) options.push(fc.bigInt(INT64).map(String), fc.stringMatching(/^(0|-?[1-9][0-9]{0,17})$/))
    else
      options.push(
        fc.string({
          unit: 'grapheme',
          minLength: Number(schema.minLength ?? 0),
          maxLength: Number(schema.maxLength ?? 20)
        })
      )
  }
  return fc.oneof(...options)
}

const bodyOf = ({ properties, required = [] }: ObjectSchema, integers: string) => {
  const values = Object.entries(properties).map(([name, schema]) => [name, generatedFrom(schema, integers)] as const)
  return fc.record(Object.fromEntries(values), { requiredKeys: [...required], noNullPrototype: true })
}

/** `bigint` values become numbers with all their digits. */
const toJson = (body: unknown) =>
  JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value)).replace(/"#(-?\d+)#"/g, '$1')

const forAjv = (body: unknown) => JSON.parse(toJson(body))

const send = (token: Client, method: 'POST' | 'PUT' | 'GET' | 'DELETE', url: string, payload?: string) =>
  app.inject({
    method,
    url,
    headers: { ...token.headers, ...(payload !== undefined && { 'content-type': 'application/json' }) },
    ...(payload !== undefined && { payload })
  })

/** Reasons to refuse a body that no schema can express, or that would be a union or an enum of integers. */
const INEXPRESSIBLE = ['range', 'format', 'length', 'check']

const isInexpressible = (response: TestResponse) => {
  if (response.statusCode === 409) return true
  const { error } = response.json()
  return (error.details ?? []).every(({ code }: { code: string }) => INEXPRESSIBLE.includes(code))
}

const clientNameOf = async (name: string) => {
  const tables = dataOf(await admin.get('/admin/tables'))
  return tables.find((table: { name: string }) => table.name === name).clientName as string
}

interface Case {
  readonly contract: Contract
  readonly token: Client
  readonly integers: string
  readonly table: string
  /** The name of the table in the document. */
  readonly name: string
}

const pathsOf = ({ contract, table, name }: Case) => {
  const lists = [table, name].map((one) => `/data/${encodeURIComponent(one)}`)
  const list = lists.find((path) => path in contract.document.paths)
  const record = Object.keys(contract.document.paths).find((path) => path.startsWith(`${list}/records/`))
  return {
    list: String(list),
    query: `${list}/query`,
    create: `${list}/records`,
    record: String(record),
    addition: `${record}/incr`,
    schema: `${list}/schema`
  }
}

const isWideText = (value: unknown) => typeof value === 'string' && /^-?\d{16,19}$/.test(value)

/** Returns the body with numbers where the description of a field names the only exception to its type. */
const withoutWideTexts = (body: unknown, { properties }: ObjectSchema): unknown =>
  JSON.parse(JSON.stringify(body), (name, value) => {
    const isException = isWideText(value) && /Beyond .*, decimal text/.test(String(properties[name]?.description))
    return isException ? Number(value) : value
  })

const expectTrue = (t: Test, tested: Case, [path, method]: [string, string], response: TestResponse) => {
  const { contract, name } = tested
  const record = contract.document.components.schemas[name] as ObjectSchema
  const body = withoutWideTexts(response.json(), record)
  t.equal(contract.problemsOf(path, method, response.statusCode, body), '', `${method} ${path} ${response.body}`)
}

const keyOf = async (tested: Case): Promise<string[]> => {
  const { primaryKey } = dataOf(await tested.token.get(pathsOf(tested).schema))
  return primaryKey.split(',')
}

/** Returns false for a row with an integer that JSON.parse has rounded. Its key may be wrong. */
const isExactRow = (row: object) =>
  Object.values(row).every((value) => !Number.isInteger(value) || Number.isSafeInteger(value))

const keyUrl = (path: string, row: Record<string, unknown>, key: readonly string[]) =>
  path.slice(0, path.lastIndexOf('/') + 1) + key.map((name) => encodeURIComponent(String(row[name]))).join(',')

const checkReads = async (t: Test, tested: Case) => {
  const paths = pathsOf(tested)
  const list = await tested.token.get(`${paths.list}?size=1000`)
  expectTrue(t, tested, [paths.list, 'get'], list)
  expectTrue(t, tested, [paths.list, 'get'], await tested.token.get(`${paths.list}?order=missing`))
  expectTrue(t, tested, [paths.schema, 'get'], await tested.token.get(paths.schema))
  for (const row of dataOf(list).rows.filter(isExactRow)) {
    const url = keyUrl(paths.record, row, await keyOf(tested))
    const read = await tested.token.get(url)
    t.equal(read.statusCode, 200, url)
    expectTrue(t, tested, [paths.record, 'get'], read)
  }
}

const checkCreates = async (t: Test, tested: Case) => {
  const { contract, token, integers, name } = tested
  const paths = pathsOf(tested)
  const schema = contract.document.components.schemas[`${name}Create`] as ObjectSchema
  const check = async (body: unknown) => {
    if (!contract.accepts(`${name}Create`, forAjv(body))) return
    const created = await send(token, 'POST', paths.create, toJson(body))
    expectTrue(t, tested, [paths.create, 'post'], created)
    t.ok(created.statusCode === 200 || isInexpressible(created), `${toJson(body)} ${created.body}`)
  }
  await fc.assert(fc.asyncProperty(bodyOf(schema, integers), check), { numRuns: 25, seed: 14 })
}

const WRONG = [true, 1.5, 'not a number', [], {}, null]

const isKey = ({ contract, name }: Case, field: string) =>
  contract.document.components.schemas[name]?.properties[field]?.['x-primary-key'] === true

const checkRefusals = async (t: Test, tested: Case) => {
  const { contract, token, integers, name } = tested
  const { create } = pathsOf(tested)
  const schema = contract.document.components.schemas[`${name}Create`] as ObjectSchema
  const [valid = {}] = fc.sample(bodyOf(schema, integers), { numRuns: 1, seed: 3 })
  const refuse = async (body: object, reason: string) => {
    t.notOk(contract.accepts(`${name}Create`, forAjv(body)), reason)
    const response = await send(token, 'POST', create, toJson(body))
    t.equal(response.statusCode, 400, `${reason}: ${toJson(body)} ${response.body}`)
    expectTrue(t, tested, [create, 'post'], response)
  }
  for (const required of schema.required ?? []) {
    const { [required]: _, ...others } = valid as Record<string, unknown>
    await refuse(others, `without ${required}`)
  }
  for (const unknown of ['unknown', 'secret', 'fixed', 'doubled', 'constructor'])
    if (!(unknown in schema.properties)) await refuse({ ...valid, [unknown]: 5 }, `with ${unknown}`)
  for (const [field, property] of Object.entries(schema.properties))
    for (const value of WRONG) {
      const body = { ...valid, [field]: value }
      if (property.enum || contract.accepts(`${name}Create`, forAjv(body))) continue
      // The service generates a key that is null.
      if (value === null && isKey(tested, field)) continue
      await refuse(body, `${field} is ${JSON.stringify(value)}`)
    }
}

const checkUpdates = async (t: Test, tested: Case) => {
  const { contract, token, integers, name } = tested
  const paths = pathsOf(tested)
  const key = await keyOf(tested)
  const row = dataOf(await token.get(paths.list)).rows.find(isExactRow)
  const url = keyUrl(paths.record, row, key)
  const schema = contract.document.components.schemas[`${name}Update`] as ObjectSchema
  const check = async (body: object) => {
    if (!contract.accepts(`${name}Update`, forAjv(body))) return
    const updated = await send(token, 'PUT', `${url}?return=record`, toJson(body))
    expectTrue(t, tested, [paths.record, 'put'], updated)
    t.ok(updated.statusCode === 200 || isInexpressible(updated), `${toJson(body)} ${updated.body}`)
  }
  await fc.assert(fc.asyncProperty(bodyOf(schema, integers), check), { numRuns: 10, seed: 14 })
  t.equal((await send(token, 'PUT', url, '{}')).statusCode, 400, 'an update without a field is refused')
  const addition = contract.document.components.schemas[`${name}Addition`] as ObjectSchema | undefined
  for (const field of (addition?.properties.field?.enum ?? []) as string[]) {
    const incremented = await token.post(`${url}/incr?return=record`, { field, count: 1 })
    expectTrue(t, tested, [paths.addition, 'post'], incremented)
    t.ok([200, 409].includes(incremented.statusCode), incremented.body)
  }
  const deleted = await send(token, 'DELETE', `${url}?return=record`)
  t.equal(deleted.statusCode, 200)
  expectTrue(t, tested, [paths.record, 'delete'], deleted)
  const missing = await token.get(url)
  t.equal(missing.statusCode, 404)
  expectTrue(t, tested, [paths.record, 'get'], missing)
}

const TEXT_OPERATORS = ['contains', 'startsWith', 'endsWith']

const targetOf = ({ contract }: Case, { $ref }: PropertySchema) =>
  contract.document.components.schemas[String($ref).split('/').at(-1) as string] as ObjectSchema

/** Returns conditions that the schema accepts. If it has no type, the values are those of a field to store. */
const conditionOn = ({ integers }: Case, { properties }: ObjectSchema, stored: PropertySchema) => {
  const { eq = {} } = properties
  const open: PropertySchema = { ...stored, type: typesOf(stored).filter((name) => name !== 'null') }
  const value = generatedFrom(typesOf(eq).length > 0 ? eq : open, integers)
  const operandOf = (operator: string, schema: PropertySchema) => {
    if (TEXT_OPERATORS.includes(operator)) return fc.string({ minLength: 1, maxLength: 3 })
    if (schema.type === 'array') return fc.array(value, { maxLength: 3 })
    return operator === 'isNull' ? fc.boolean() : value
  }
  const operands = Object.entries(properties).map(([operator, schema]) => [operator, operandOf(operator, schema)])
  return fc.record(Object.fromEntries(operands), { requiredKeys: [] })
}

/** Returns filters with conditions on at most one field in each `where`. */
const filterOf = (tested: Case) => {
  const { schemas } = tested.contract.document.components
  const stored = schemas[`${tested.name}Create`]?.properties ?? {}
  const conditions = Object.entries(schemas[`${tested.name}Where`]?.properties ?? {}).map(([field, reference]) =>
    conditionOn(tested, targetOf(tested, reference), stored[field] ?? {}).map((condition) =>
      Object.fromEntries([[field, condition]])
    )
  )
  const where = fc.record({ where: fc.oneof(...conditions) }, { requiredKeys: [] })
  const filters = fc.array(where, { maxLength: 2 })
  const filter = fc.record({ where: fc.oneof(...conditions), all: filters, any: filters }, { requiredKeys: [] })
  return fc.oneof(where, filter, fc.record({ none: fc.array(filter, { maxLength: 2 }) }))
}

const queryOf = (tested: Case, row: object) => {
  const orders = Object.keys(row).flatMap((field) => [field, `-${field}`])
  return fc.record(
    {
      filter: filterOf(tested),
      q: fc.string(),
      order: fc.constantFrom('', ...orders),
      size: fc.integer({ min: 1, max: 5 }),
      cursor: fc.constant(''),
      total: fc.boolean()
    },
    { requiredKeys: ['filter'] }
  )
}

const checkQueries = async (t: Test, tested: Case) => {
  const { contract, token, name } = tested
  const { query } = pathsOf(tested)
  const find = async (body: unknown) => {
    const found = await send(token, 'POST', query, toJson(body))
    expectTrue(t, tested, [query, 'post'], found)
    return found
  }
  const check = async (body: unknown) => {
    if (!contract.accepts(`${name}Query`, forAjv(body))) return
    const found = await find(body)
    t.ok(found.statusCode === 200 || isInexpressible(found), `${toJson(body)} ${found.body}`)
  }
  const first = dataOf(await find({ size: 1, total: true }))
  await fc.assert(fc.asyncProperty(queryOf(tested, first.rows[0]), check), { numRuns: 40, seed: 14 })
  let { next } = first
  let rows = 1
  while (next !== null) {
    const page = dataOf(await find({ size: 1, cursor: next }))
    next = page.next
    rows += page.rows.length
  }
  t.equal(rows, first.total)
}

const checkQueryRefusals = async (t: Test, tested: Case) => {
  const { contract, token, name } = tested
  const { query } = pathsOf(tested)
  const schemas = contract.document.components.schemas
  const refuse = async (body: object, reason: string) => {
    t.notOk(contract.accepts(`${name}Query`, body), reason)
    const response = await token.post(query, body)
    t.equal(response.statusCode, 400, `${reason}: ${toJson(body)} ${response.body}`)
    expectTrue(t, tested, [query, 'post'], response)
  }
  const fields = schemas[`${name}Where`]?.properties ?? {}
  for (const unknown of ['unknown', 'secret', 'constructor']) {
    await refuse({ [unknown]: 5 }, `with ${unknown}`)
    await refuse({ filter: { [unknown]: {} } }, `with the part ${unknown}`)
    await refuse({ filter: { where: { [unknown]: {} } } }, `with the field ${unknown}`)
  }
  for (const [field, reference] of Object.entries(fields)) {
    await refuse({ filter: { all: [{ where: { [field]: { like: 'a' } } }] } }, `${field} with an unknown operator`)
    if (!('contains' in targetOf(tested, reference).properties))
      await refuse({ filter: { where: { [field]: { contains: 'a' } } } }, `${field} contains no text`)
    for (const value of WRONG) {
      const body = { filter: { where: { [field]: { eq: value } } } }
      if (!contract.accepts(`${name}Query`, body)) await refuse(body, `${field} is ${JSON.stringify(value)}`)
    }
  }
}

for (const integers of ['auto', 'number', 'string']) {
  t.test(`the document of a token with the integers '${integers}' is true`, async (t) => {
    const token = await tokenWith(integers)
    const contract = createContract((await token.get('/data/_openapi.json')).json())
    for (const table of TABLES) {
      t.test(table, async (t) => {
        const tested = { contract, token, integers, table, name: await clientNameOf(table) }
        await checkReads(t, tested)
        await checkQueryRefusals(t, tested)
        await checkRefusals(t, tested)
        await checkCreates(t, tested)
        await checkReads(t, tested)
        await checkQueries(t, tested)
        await checkUpdates(t, tested)
      })
    }
  })
}

t.test('the query of an administrator is as in the document of administrators', async (t) => {
  const contract = createContract((await admin.get('/admin/openapi.json?tables=tags')).json())
  const path = Object.keys(contract.document.paths).find((one) => one.endsWith('/query')) ?? ''
  const body = { filter: { where: { uses: { gte: -5 }, tag: { ne: '' } } }, order: '-uses', size: 2, total: true }
  t.ok(contract.accepts('TagsQuery', body))
  const found = await admin.post(path, body)
  t.equal(found.statusCode, 200)
  t.equal(contract.problemsOf(path, 'post', 200, found.json()), '')
  t.equal(dataOf(found).rows.length, 2)
})

import fc from 'fast-check'
import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  type Client,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'
import { openServed } from '../served.ts'

const MAX = '9223372036854775807'
const MIN = '-9223372036854775808'

const file = createDatabase(
  t,
  `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, color TEXT COLLATE NOCASE, price REAL, stock INTEGER,
     sold BOOLEAN, photo BLOB, amount NUMERIC, secret INTEGER);
   INSERT INTO items VALUES
     (1, 'cup', 'red', 1.5, 3, 1, x'ff00', 2, 1),
     (2, 'mug', 'Red', 2.5, 4, 0, x'01', 0.5, 2),
     (3, 'jar', NULL, NULL, NULL, 1, NULL, NULL, 3),
     (4, 'pot', 'blue', 8, 4, 1, NULL, 10, 4);
   CREATE TABLE dates (id INTEGER PRIMARY KEY, at TEXT, ms INTEGER, day DATE, price REAL);
   INSERT INTO dates (at, ms, day) VALUES
     ('2024-01-05', 0, '2024-01-05'), ('2024-01-31T23:30:00-02:00', -1, 1704412800000),
     ('2024-02-29T10:00:00.5Z', 1706745600000, 'never'), ('2023-02-29', 253402300799999, NULL),
     ('now', 253402300800000, 1.5), ('2459000.5', ${MIN}, NULL), ('10:00', ${MAX}, NULL),
     ('2024-01-05 ten', NULL, NULL), (NULL, 1704412800000, NULL), (x'32303234', 'soon', NULL);
   CREATE TABLE wide (id INTEGER PRIMARY KEY, n INTEGER, part TEXT) STRICT;
   INSERT INTO wide (n, part) VALUES (${MAX}, 'a'), (0, 'a'), (9007199254740991, 'b'), (1, 'b'), (${MIN}, 'c'), (-1, 'c');
   CREATE TABLE mixed (id INTEGER PRIMARY KEY, n INTEGER, x);
   INSERT INTO mixed (n, x) VALUES (5, 'b'), (1.5, x'00'), ('many', 7), (NULL, 7.0);
   CREATE TABLE pairs (a TEXT, b INTEGER, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
   INSERT INTO pairs VALUES ('x', 1, 10), ('x', 2, 20), ('y', 1, 5);
   CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT);
   INSERT INTO texts (body) SELECT value || printf('%.*c', 1000000, 'x') FROM json_each('[1,2,3,4,5,6,7,8,9]');
   CREATE TABLE faults (id INTEGER PRIMARY KEY, n INTEGER, raw TEXT);
   INSERT INTO faults (n, raw) VALUES (${MIN}, '1'), (1, '{');
   ALTER TABLE faults ADD COLUMN size INTEGER AS (abs(n));
   ALTER TABLE faults ADD COLUMN part TEXT AS (json_extract(raw, '$'));
   CREATE TABLE random (id INTEGER PRIMARY KEY, color TEXT COLLATE NOCASE, n INTEGER);`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const tables = ['items', 'dates', 'wide', 'mixed', 'pairs', 'texts', 'faults', 'random']
const ids = new Map<string, number>()
for (const name of tables) ids.set(name, (await importTable(admin, name)).id)
const external = openServed(t, file)

await admin.put(`/admin/tables/${ids.get('items')}`, { fields: [{ name: 'secret', isHidden: true }] })
const token = await asToken(app, admin)

const aggregate = (table: string, body: object, caller: Client = token) => caller.post(`/data/${table}/aggregate`, body)
const count = { n: { count: true } }

const expectRows = async (t: Test, table: string, body: object, rows: unknown) =>
  expectData(t, await aggregate(table, body), { rows })

const refused = async (t: Test, body: object, path: string, message: RegExp, table = 'items') => {
  const response = await aggregate(table, body)
  expectError(t, response, 400, 'VALIDATION_FAILED', path)
  t.match(response.json().error.message, message)
  return response.json().error
}

t.test('without groups, there is one row', async (t) => {
  const compute = {
    records: { count: true },
    stock: { sum: 'stock' },
    mean: { avg: 'stock' },
    cheapest: { min: 'price' },
    dearest: { max: 'price' },
    colors: { countDistinct: 'color' },
    price: { sum: 'price' },
    amount: { sum: 'amount' }
  }
  await expectRows(t, 'items', { compute }, [
    { records: 4, stock: 11, mean: 11 / 3, cheapest: 1.5, dearest: 8, colors: 2, price: 12, amount: 12.5 }
  ])
  await expectRows(t, 'items', { compute, filter: { where: { id: { gt: 4 } } } }, [
    { records: 0, stock: null, mean: null, cheapest: null, dearest: null, colors: 0, price: null, amount: null }
  ])
})

t.test('min and max show values as records show them', async (t) => {
  const compute = {
    name: { max: 'name' },
    sold: { min: 'sold' },
    photo: { max: 'photo' },
    color: { max: 'color' }
  }
  await expectRows(t, 'items', { compute }, [{ name: 'pot', sold: false, photo: '/wA=', color: 'red' }])
})

t.test('arrays are shown as arrays', async (t) => {
  const fields = [{ name: 'list', jsonType: 'array' as const }]
  await createTable(admin, { name: 'lists', fields })
  for (const list of [['b'], ['a'], ['a']]) dataOf(await token.post('/data/lists/records', { list }))
  await expectRows(t, 'lists', { compute: { last: { max: 'list' } } }, [{ last: ['b'] }])
  await expectRows(t, 'lists', { groupBy: ['list'], compute: count }, [
    { list: ['a'], n: 2 },
    { list: ['b'], n: 1 }
  ])
})

t.test('rows are grouped by the collation of a field', async (t) => {
  await expectRows(t, 'items', { groupBy: ['color'], compute: { n: { count: true }, total: { sum: 'stock' } } }, [
    { color: null, n: 1, total: null },
    { color: 'blue', n: 1, total: 4 },
    { color: 'Red', n: 2, total: 7 }
  ])
  await expectRows(t, 'items', { groupBy: ['sold', 'color'], compute: count }, [
    { sold: false, color: 'Red', n: 1 },
    { sold: true, color: null, n: 1 },
    { sold: true, color: 'blue', n: 1 },
    { sold: true, color: 'red', n: 1 }
  ])
  await expectRows(t, 'pairs', { groupBy: ['a'], compute: { n: { sum: 'n' } } }, [
    { a: 'x', n: 30 },
    { a: 'y', n: 5 }
  ])
  await expectRows(t, 'items', { groupBy: ['color'], compute: count, filter: { none: [{}] } }, [])
  await expectRows(t, 'items', { groupBy: [], compute: count }, [{ n: 4 }])
})

t.test('a filter and a search select the records', async (t) => {
  await expectRows(t, 'items', { compute: count, filter: { where: { color: { eq: 'RED' } } } }, [{ n: 2 }])
  await expectRows(t, 'items', { compute: count, q: 'Cup' }, [{ n: 1 }])
  await expectRows(t, 'items', { compute: count, q: 'cup', filter: { where: { id: { gt: 1 } } } }, [{ n: 0 }])
  await expectRows(t, 'items', { compute: count, q: '' }, [{ n: 4 }])
  await refused(t, { compute: count, filter: { where: { secret: { eq: 1 } } } }, '/filter/where/secret', /not a field/)
})

t.test('order and size choose the rows', async (t) => {
  const body = { groupBy: ['stock'], compute: count }
  await expectRows(t, 'items', { ...body, order: '-n' }, [
    { stock: 4, n: 2 },
    { stock: null, n: 1 },
    { stock: 3, n: 1 }
  ])
  await expectRows(t, 'items', { ...body, order: 'n,-stock', size: 2 }, [
    { stock: 3, n: 1 },
    { stock: null, n: 1 }
  ])
  await expectRows(t, 'items', { ...body, order: '', size: 1 }, [{ stock: null, n: 1 }])
  await expectRows(t, 'items', { compute: count, order: '-n', size: 1000 }, [{ n: 4 }])
  await refused(t, { ...body, size: 1001 }, '/size', /at most 1000/)
  await refused(t, { ...body, size: 0 }, '/size', /at least 1/)
  const { hint } = await refused(t, { ...body, order: '-stok' }, '/order', /'-stok', which is not a name of/)
  t.match(hint, "Did you mean 'stock'?")
  await refused(t, { ...body, order: 'price' }, '/order', /'price'/)
  await refused(t, { ...body, order: Array(9).fill('n').join() }, '/order', /8 fields at most/)
})

t.test('by groups dates by a period in UTC', async (t) => {
  await expectRows(t, 'dates', { by: { field: 'at', unit: 'day' }, compute: count }, [
    { at: null, n: 7 },
    { at: '2024-01-05', n: 1 },
    { at: '2024-02-01', n: 1 },
    { at: '2024-02-29', n: 1 }
  ])
  await expectRows(t, 'dates', { by: { field: 'at', unit: 'month' }, compute: count, order: '-at', size: 2 }, [
    { at: '2024-02', n: 2 },
    { at: '2024-01', n: 1 }
  ])
  await expectRows(t, 'dates', { by: { field: 'ms', unit: 'day' }, compute: count }, [
    { ms: null, n: 5 },
    { ms: '1969-12-31', n: 1 },
    { ms: '1970-01-01', n: 1 },
    { ms: '2024-01-05', n: 1 },
    { ms: '2024-02-01', n: 1 },
    { ms: '9999-12-31', n: 1 }
  ])
  await expectRows(t, 'dates', { by: { field: 'ms', unit: 'year' }, groupBy: ['at'], compute: count, size: 1 }, [
    { at: null, ms: '2024', n: 1 }
  ])
  await expectRows(t, 'dates', { by: { field: 'day', unit: 'day' }, compute: count }, [
    { day: null, n: 8 },
    { day: '2024-01-05', n: 2 }
  ])
  await expectRows(t, 'dates', { by: { field: 'at', unit: 'week' }, compute: count }, [
    { at: null, n: 7 },
    { at: '2024-W01', n: 1 },
    { at: '2024-W05', n: 1 },
    { at: '2024-W09', n: 1 }
  ])
  await expectRows(t, 'dates', { by: { field: 'ms', unit: 'week' }, compute: count, size: 2 }, [
    { ms: null, n: 5 },
    { ms: '1970-W01', n: 2 }
  ])
  await expectRows(t, 'dates', { by: { field: 'ms', unit: 'quarter' }, compute: count }, [
    { ms: null, n: 5 },
    { ms: '1969-Q4', n: 1 },
    { ms: '1970-Q1', n: 1 },
    { ms: '2024-Q1', n: 2 },
    { ms: '9999-Q4', n: 1 }
  ])
  await refused(t, { by: { field: 'price', unit: 'day' }, compute: count }, '/by/field', /field with dates/, 'dates')
  await refused(t, { by: { field: 'att', unit: 'day' }, compute: count }, '/by/field', /'att' is not/, 'dates')
  await refused(t, { by: { field: 'at', unit: 'hour' }, compute: count }, '/by/unit', /one of day, week/, 'dates')
  await refused(t, { by: { field: 'at' }, compute: count }, '/by/unit', /required/, 'dates')
  const twice = { by: { field: 'at', unit: 'day' }, groupBy: ['at'], compute: count }
  await refused(t, twice, '/by/field', /repeats a field/, 'dates')
})

t.test('having selects groups by their computed values', async (t) => {
  const compute = { n: { count: true }, total: { sum: 'stock' }, dearest: { max: 'price' }, last: { max: 'name' } }
  const groupBy = ['color']
  const red = { color: 'Red', n: 2, total: 7, dearest: 2.5, last: 'mug' }
  const blue = { color: 'blue', n: 1, total: 4, dearest: 8, last: 'pot' }
  const unknown = { color: null, n: 1, total: null, dearest: null, last: 'jar' }
  const expectHaving = (having: object, rows: readonly object[], other: object = {}) =>
    expectRows(t, 'items', { groupBy, compute, having, ...other }, rows)
  await expectHaving({}, [unknown, blue, red])
  await expectHaving({ n: { gt: 1 } }, [red])
  await expectHaving({ n: { eq: 1 }, total: { isNull: false } }, [blue])
  await expectHaving({ total: { between: [4, 7] } }, [blue, red])
  await expectHaving({ total: { notIn: [7] } }, [unknown, blue])
  await expectHaving({ dearest: { gte: 2.5 }, last: { startsWith: 'P' } }, [blue])
  await expectHaving({ last: { gt: 'k' } }, [red, blue], { order: 'last' })
  await expectHaving({ last: { gt: 'a' } }, [blue, red], { order: '-last', size: 2 })
  await expectHaving({ n: { gt: 5 } }, [])
  await expectRows(t, 'items', { compute, having: { n: { gt: 5 } } }, [])
  await expectRows(t, 'items', { compute: { mean: { avg: 'stock' } }, having: { mean: { lt: 4 } } }, [{ mean: 11 / 3 }])
  const distinct = { colors: { countDistinct: 'color' } }
  await expectRows(t, 'items', { compute: distinct, having: { colors: { eq: 2 } } }, [{ colors: 2 }])
  await expectRows(t, 'wide', { groupBy: ['part'], compute: { top: { max: 'n' } }, having: { top: { eq: MAX } } }, [
    { part: 'a', top: MAX }
  ])
  await expectRows(t, 'dates', { by: { field: 'ms', unit: 'quarter' }, compute: count, having: { n: { eq: 2 } } }, [
    { ms: '2024-Q1', n: 2 }
  ])
})

t.test('an invalid having is refused with its path', async (t) => {
  const body = { groupBy: ['color'], compute: { n: { count: true }, name: { min: 'name' } } }
  const refuseHaving = (having: unknown, path: string, message: RegExp) =>
    refused(t, { ...body, having }, path, message)
  t.match(await refuseHaving({ names: { gt: 'a' } }, '/having/names', /not a name of `compute`/), { hint: /'name'/ })
  await refuseHaving({ color: { eq: 'red' } }, '/having/color', /not a name of `compute`/)
  await refuseHaving({ n: 1 }, '/having/n', /must be an object/)
  await refuseHaving({ n: { gt: 'x' } }, '/having/n/gt', /number/)
  await refuseHaving({ n: { contains: '1' } }, '/having/n/contains', /has no text/)
  await refuseHaving({ name: { gt: 1 } }, '/having/name/gt', /must be a string/)
  await refuseHaving([], '/having', /object/)
})

t.test('sums of integers are exact, or fail', async (t) => {
  const sum = { total: { sum: 'n' } }
  const of = (part: string) => ({ compute: sum, filter: { where: { part: { eq: part } } } })
  await expectRows(t, 'wide', of('a'), [{ total: MAX }])
  await expectRows(t, 'wide', of('b'), [{ total: '9007199254740992' }])
  expectError(t, await aggregate('wide', of('c')), 409, 'AGGREGATE_OVERFLOW')
  expectError(t, await aggregate('wide', { compute: sum, groupBy: ['part'] }), 409, 'AGGREGATE_OVERFLOW')
  const byAdmin = await admin.post(`/admin/tables/${ids.get('wide')}/aggregate`, of('c'))
  expectError(t, byAdmin, 409, 'AGGREGATE_OVERFLOW')
  await expectRows(t, 'wide', { compute: { mean: { avg: 'n' } }, filter: of('c').filter }, [{ mean: -(2 ** 62) }])
})

t.test('integers have the format of the token', async (t) => {
  const tokenWith = async (integers: string) => {
    const permissions = { tables: ['*'], actions: ['read'] }
    return client(app, bearer(dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions, integers })).token))
  }
  const body = {
    groupBy: ['n'],
    compute: { c: { count: true }, s: { sum: 'n' }, d: { countDistinct: 'n' }, a: { avg: 'n' }, m: { max: 'n' } },
    filter: { where: { id: { in: [1, 4] } } }
  }
  const { body: numbers } = await aggregate('wide', body, await tokenWith('number'))
  t.match(numbers, `{"n":1,"c":1,"s":1,"d":1,"a":1.0,"m":1},{"n":${MAX},"c":1,"s":${MAX},"d":1,`)
  const strings = body.filter.where.id.in.map(String)
  const filter = { where: { id: { in: strings } } }
  const having = { c: { eq: 1 }, m: { gte: '1' } }
  const { body: texts } = await aggregate('wide', { ...body, filter, having }, await tokenWith('string'))
  t.match(texts, `{"n":"1","c":1,"s":"1","d":1,"a":1.0,"m":"1"},{"n":"${MAX}","c":1,"s":"${MAX}","d":1,`)
})

t.test('values of other types count as SQLite counts them', async (t) => {
  const compute = { sum: { sum: 'n' }, avg: { avg: 'n' }, max: { max: 'n' }, kinds: { countDistinct: 'x' } }
  await expectRows(t, 'mixed', { compute }, [{ sum: 6.5, avg: 6.5 / 3, max: 'many', kinds: 3 }])
  await expectRows(t, 'mixed', { groupBy: ['x'], compute: count }, [
    { x: 7, n: 2 },
    { x: 'b', n: 1 },
    { x: 'AA==', n: 1 }
  ])
})

t.test('a value has exactly one function, of a field that fits', async (t) => {
  await expectRows(t, 'items', { compute: { _A9: { count: true } } }, [{ _A9: 4 }])
  await refused(t, { compute: { n: {} } }, '/compute/n', /exactly one/)
  await refused(t, { compute: { n: { min: 'id', max: 'id' } } }, '/compute/n', /exactly one/)
  await refused(t, { compute: { n: { count: false } } }, '/compute/n/count', /must be true/)
  await refused(t, { compute: { n: { median: 'id' } } }, '/compute/n/median', /unknown/)
  await refused(t, { compute: { n: { sum: 1 } } }, '/compute/n/sum', /string/)
  await refused(t, { compute: { n: { sum: 'name' } } }, '/compute/n/sum', /numeric/)
  await refused(t, { compute: { n: { avg: 'sold' } } }, '/compute/n/avg', /numeric/)
  const computed = (length: number) => ({
    compute: Object.fromEntries(Array.from({ length }, (_, index) => [`n${index}`, { sum: 'id' }]))
  })
  t.equal(Object.keys(dataOf(await aggregate('items', computed(10))).rows[0]).length, 10)
  await refused(t, computed(11), '/compute', /1 to 10/)
  await refused(t, { compute: {} }, '/compute', /1 to 10/)
  await refused(t, {}, '/compute', /required/)
  await refused(t, { compute: count, where: {} }, '/where', /unknown/)
})

t.test('names are unique and simple', async (t) => {
  await expectRows(t, 'items', { compute: { ['a'.repeat(64)]: { count: true } } }, [{ ['a'.repeat(64)]: 4 }])
  for (const name of ['', 'a'.repeat(65), '1a', 'a b', '-a', 'a,b', "a'"]) {
    await refused(t, { compute: { [name]: { count: true } } }, `/compute/${name}`, /ASCII/)
  }
  await refused(t, { compute: { 'a\0': { count: true } } }, '/compute/a\0', /NUL/)
  await refused(t, { groupBy: ['color'], compute: { color: { count: true } } }, '/compute/color', /name of a group/)
  await refused(t, { groupBy: ['color', 'color'], compute: count }, '/groupBy/1', /repeats/)
  await refused(t, { groupBy: ['id', 'name', 'color', 'price', 'stock'], compute: count }, '/groupBy', /at most 4/)
  token.headers['content-type'] = 'application/json'
  const text = '{"compute":{"n":{"count":true},"n":{"sum":"id"}}}'
  const twice = await token.post('/data/items/aggregate', text)
  expectError(t, twice, 400, 'VALIDATION_FAILED')
})

t.test('a hidden field is unknown to tokens', async (t) => {
  const bodies = (name: string) =>
    [
      [{ groupBy: [name], compute: count }, '/groupBy/0'],
      [{ by: { field: name, unit: 'day' }, compute: count }, '/by/field'],
      [{ compute: { n: { sum: name } } }, '/compute/n/sum'],
      [{ compute: { n: { countDistinct: name } } }, '/compute/n/countDistinct']
    ] as const
  for (const [body, path] of bodies('secret')) {
    const { hint } = await refused(t, body, path, /'secret' is not a field of this table/)
    t.equal(hint, undefined)
    dataOf(await admin.post(`/admin/tables/${ids.get('items')}/aggregate`, body))
  }
  for (const [body, path] of bodies('secre')) {
    const { hint } = await refused(t, body, path, /'secre' is not a field of this table/)
    t.equal(hint, undefined)
  }
  t.match((await refused(t, { groupBy: ['colour'], compute: count }, '/groupBy/0', /colour/)).hint, /'color'/)
})

t.test('a response has at most 8 MiB', async (t) => {
  const body = { groupBy: ['body'], compute: count }
  t.equal(dataOf(await aggregate('texts', { ...body, size: 8 })).rows.length, 8)
  expectError(t, await aggregate('texts', body), 400, 'RESPONSE_TOO_LARGE')
})

t.test('a body has at most 64 KiB', async (t) => {
  const body = (length: number) => ({ compute: count, order: `n${' '.repeat(length)}` })
  await expectRows(t, 'items', body(65_000), [{ n: 4 }])
  expectError(t, await aggregate('items', body(66_000)), 413, 'BODY_TOO_LARGE')
})

t.test('a generated column that fails is no overflow of a sum', async (t) => {
  await expectRows(t, 'faults', { compute: { n: { count: true }, total: { sum: 'n' } } }, [
    { n: 2, total: '-9223372036854775807' }
  ])
  const first = { where: { id: { eq: 1 } } }
  expectError(t, await aggregate('faults', { compute: { n: { max: 'size' } } }), 409, 'STRUCTURE_CHANGED')
  expectError(
    t,
    await aggregate('faults', { compute: { n: { sum: 'n' } }, groupBy: ['part'] }),
    409,
    'STRUCTURE_CHANGED'
  )
  expectError(
    t,
    await aggregate('faults', { compute: { n: { sum: 'size' } }, filter: first }),
    409,
    'AGGREGATE_OVERFLOW'
  )
})

const COLORS = ['red', 'Red', 'blue', 'Blue', 'green', null]
const randomRow = fc.record({
  color: fc.constantFrom(...COLORS),
  n: fc.oneof(
    fc.constant(null),
    fc.bigInt({ min: -5n, max: 5n }),
    // 60 of them sum up to less than 2^63.
    fc.bigInt({ min: -(2n ** 57n), max: 2n ** 57n })
  )
})
type Row = typeof randomRow extends fc.Arbitrary<infer R> ? R : never

const shown = (value: bigint | null | undefined) => {
  if (value === null || value === undefined) return null
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

const compare = <T>(a: T, b: T) => Number(a > b) - Number(a < b)

/** Computes the same row with plain arithmetic. */
const expectedRow = (rows: readonly Row[]) => {
  const values = rows.flatMap(({ n }) => (n === null ? [] : [n])).sort(compare)
  const sum = values.length === 0 ? null : values.reduce((a, b) => a + b)
  return {
    records: rows.length,
    sum: shown(sum),
    avg: sum === null ? null : Number(sum) / values.length,
    min: shown(values[0]),
    max: shown(values.at(-1)),
    distinct: new Set(values).size
  }
}

const expectedGroups = (rows: readonly Row[]) => {
  const keyOf = ({ color }: Row) => color?.toLowerCase() ?? ''
  const keys = [...new Set(rows.map(keyOf))].sort(compare)
  return keys.map((key) => {
    const members = rows.filter((row) => keyOf(row) === key)
    const [color] = members.map((row) => row.color).sort((a, b) => compare(a ?? '', b ?? ''))
    return { color, ...expectedRow(members) }
  })
}

t.test('random records have the values of plain arithmetic', async (t) => {
  const compute = {
    records: { count: true },
    sum: { sum: 'n' },
    avg: { avg: 'n' },
    min: { min: 'n' },
    max: { max: 'n' },
    distinct: { countDistinct: 'n' }
  }
  const insert = external.prepare('INSERT INTO random (color, n) VALUES (?, ?)')
  const store = external.transaction((rows: readonly Row[]) => {
    external.exec('DELETE FROM random')
    for (const { color, n } of rows) insert.run(color, n)
  })
  await fc.assert(
    fc.asyncProperty(fc.array(randomRow, { maxLength: 60 }), async (rows) => {
      store(rows)
      const all = dataOf(await aggregate('random', { compute })).rows
      const groups = dataOf(await aggregate('random', { compute, groupBy: ['color'] })).rows
      const smallest = dataOf(
        await aggregate('random', { compute, groupBy: ['color'], order: '-records', size: 2 })
      ).rows
      const byCount = expectedGroups(rows).sort((a, b) => b.records - a.records)
      t.strictSame(all, [expectedRow(rows)])
      t.strictSame(groups, expectedGroups(rows))
      t.strictSame(smallest, byCount.slice(0, 2))
      return t.passing()
    }),
    { numRuns: 50 }
  )
})

import t, { type Test } from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { DomainError } from '../../../../services/model/errors.ts'
import { createMeasurement } from '../../../../services/tables/registry/exactness.ts'
import { createStoredTables } from '../../../../services/tables/registry/stored-tables.ts'
import { startServices } from '../../services.ts'
import '../../../plain-threads.ts'

/** Imports `t`. `exact` returns the names of its exact fields. */
const setup = async (t: Test, sql: string) => {
  const services = await startServices(t, sql)
  const { tables, registry, external } = services
  const { id } = await tables.adoptTable(serviceCaller, 't')
  const exact = () => [...tables.get(id).exactFields]
  const refresh = () => tables.refresh(serviceCaller, id)
  const execute = async (text: string) => {
    external.exec(text)
    await registry.load()
  }
  return { ...services, id, exact, refresh, execute }
}

const TYPES = 'i INTEGER, r REAL, n NUMERIC, b BOOLEAN, s TEXT, x BLOB'
const KINDS = ['i', 'r', 'n', 'b', 's', 'x']

t.test('a column of a table that is not STRICT is exact if all its values fit', async (t) => {
  const fitting = [
    "(1, 1.5, 1, 1, 'a', x'00')",
    '(NULL, NULL, NULL, NULL, NULL, NULL)',
    "(9223372036854775807, 2, 1.5, 0, '', x'')"
  ]
  const { exact } = await setup(t, `CREATE TABLE t (${TYPES}); INSERT INTO t VALUES ${fitting.join(', ')}`)
  t.strictSame(exact(), ['rowid', ...KINDS])
})

t.test('an empty table is exact', async (t) => {
  const { exact } = await setup(t, `CREATE TABLE t (${TYPES}, PRIMARY KEY (i, s)) WITHOUT ROWID`)
  t.strictSame(exact(), KINDS)
})

t.test('one value that does not fit makes its column inexact, and no other', async (t) => {
  const cases: readonly (readonly [column: string, value: string])[] = [
    ['i', "'text'"],
    ['i', '1.5'],
    ['i', "x'31'"],
    ['r', "'text'"],
    ['r', '9e999'],
    ['r', "x'31'"],
    ['n', "'text'"],
    ['n', '-9e999'],
    ['n', "x'31'"],
    ['b', '2'],
    ['b', '0.5'],
    ['b', "'true'"],
    ['s', "x'61'"],
    ['x', "'text'"],
    ['x', '5']
  ]
  const create = cases.map(
    ([column, value], index) =>
      `CREATE TABLE t${index} (${TYPES}); INSERT INTO t${index} (${column}) VALUES (NULL), (${value}), (NULL);`
  )
  const { tables } = await startServices(t, create.join(' '))
  for (const [index, [column, value]] of cases.entries()) {
    const { exactFields } = await tables.adoptTable(serviceCaller, `t${index}`)
    t.strictSame([...exactFields], ['rowid', ...KINDS.filter((name) => name !== column)], `${column} ${value}`)
  }
})

t.test('columns whose own rules accept several types are never exact', async (t) => {
  const { exact } = await setup(t, 'CREATE TABLE t (id INTEGER PRIMARY KEY, d DATE, u, a ANY, g INT AS (id), s TEXT)')
  t.strictSame(exact(), ['id', 's'])
})

t.test('STRICT settles what it enforces, without a scan', async (t) => {
  const { exact, db, refresh } = await setup(
    t,
    `CREATE TABLE t (i INTEGER, r REAL, s TEXT, x BLOB, a ANY, g TEXT AS (s), d INTEGER DEFAULT (1 + 1)) STRICT;
     CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET i = 5; END`
  )
  t.strictSame(exact(), ['rowid', 'i', 'r', 's', 'x', 'g', 'd'])
  db.scan = () => Promise.reject(new Error('A scan.'))
  await refresh()
})

t.test('booleans and JSON of our own tables are exact, until a refresh finds another value', async (t) => {
  const { tables, external } = await startServices(t, '')
  const { id } = await tables.create(serviceCaller, {
    name: 'own',
    label: '',
    fields: [
      { name: 'b', jsonType: 'boolean', defaultValue: true },
      { name: 'o', jsonType: 'object', defaultValue: {} },
      { name: 'l', jsonType: 'array' }
    ]
  })
  const exact = () => [...tables.get(id).exactFields]
  t.strictSame(exact(), ['id', 'b', 'o', 'l'])
  await tables.addField(serviceCaller, id, { name: 'more', jsonType: 'boolean', nullable: false, defaultValue: false })
  t.strictSame(exact(), ['id', 'b', 'o', 'l', 'more'])
  external.exec(`INSERT INTO own (b, o, l) VALUES (0, '{"a":[1]}', '[]')`)
  await tables.refresh(serviceCaller, id)
  t.strictSame(exact(), ['id', 'b', 'o', 'l', 'more'])
  external.exec(`INSERT INTO own (b, o, l) VALUES (2, '[]', 'no JSON')`)
  t.strictSame(exact(), ['id', 'b', 'o', 'l', 'more'], 'before the refresh')
  await tables.refresh(serviceCaller, id)
  t.strictSame(exact(), ['id', 'more'])
})

t.test('a default that does not fit makes its column inexact', async (t) => {
  const { exact } = await setup(
    t,
    `CREATE TABLE t (
       id INTEGER PRIMARY KEY,
       i1 INTEGER DEFAULT 'text', i2 INTEGER DEFAULT (1 + 1), i3 INTEGER DEFAULT 1.5, i4 INTEGER DEFAULT CURRENT_DATE,
       s1 TEXT DEFAULT x'00', s2 TEXT DEFAULT (1 + 1), x1 BLOB DEFAULT 'AAAA', x2 BLOB DEFAULT 5, b1 BOOLEAN DEFAULT 2,
       i5 INTEGER DEFAULT '5', i6 INTEGER DEFAULT 9223372036854775807, r5 REAL DEFAULT 5, n5 NUMERIC DEFAULT 1.5,
       s5 TEXT DEFAULT '1+1', s6 TEXT DEFAULT CURRENT_TIMESTAMP, s7 TEXT DEFAULT 5, s8 TEXT DEFAULT abc,
       x5 BLOB DEFAULT x'00', b5 BOOLEAN DEFAULT TRUE, z5 INTEGER DEFAULT NULL
     )`
  )
  t.strictSame(exact(), ['id', 'i5', 'i6', 'r5', 'n5', 's5', 's6', 's7', 's8', 'x5', 'b5', 'z5'])
})

t.test('a table into which a trigger of any table writes is not exact', async (t) => {
  const { exact, execute } = await setup(t, 'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE u (b)')
  t.strictSame(exact(), ['id', 'a'])
  await execute('CREATE TRIGGER harmless AFTER INSERT ON t BEGIN INSERT INTO u VALUES (NEW.a); DELETE FROM t; END')
  t.strictSame(exact(), ['id', 'a'])
  await execute('CREATE TRIGGER other AFTER INSERT ON u BEGIN UPDATE "T" SET a = NEW.b; END')
  t.strictSame(exact(), ['id'])
  await execute('DROP TRIGGER other')
  t.strictSame(exact(), ['id', 'a'])
})

t.test('a column is not exact if a foreign key copies values into it that the API can change', async (t) => {
  const { exact } = await setup(
    t,
    `CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
     CREATE VIEW broken AS SELECT gone FROM missing;
     CREATE TABLE t (
       id INTEGER PRIMARY KEY,
       a INTEGER REFERENCES p ON UPDATE CASCADE,
       b INTEGER REFERENCES P (ID) ON UPDATE CASCADE,
       c INTEGER REFERENCES p (code) ON UPDATE CASCADE,
       d INTEGER REFERENCES broken (gone) ON UPDATE CASCADE,
       e INTEGER REFERENCES p (code) ON UPDATE SET NULL
     )`
  )
  t.strictSame(exact(), ['id', 'a', 'b', 'e'])
})

t.test('a type that another program has changed is inexact until a refresh', async (t) => {
  const { exact, execute, refresh } = await setup(t, 'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)')
  await execute('DROP TABLE t; CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT)')
  t.strictSame(exact(), ['id', 'b'])
  await refresh()
  t.strictSame(exact(), ['id', 'a', 'b'])
})

t.test('a field that is added to an imported table is exact', async (t) => {
  const { exact, tables, id, refresh } = await setup(t, 'CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)')
  await tables.addField(serviceCaller, id, { name: 'o', jsonType: 'object', defaultValue: { a: 1 } })
  t.strictSame(exact(), ['rowid', 'a', 'o'])
  await refresh()
  t.strictSame(exact(), ['rowid', 'a', 'o'])
})

t.test('a measurement', async (t) => {
  const { db, exact, refresh } = await setup(t, 'CREATE TABLE t (a TEXT); CREATE TABLE u (a TEXT)')
  const { readNamed } = createStoredTables(db)
  const find = await readNamed(serviceCaller, ['t', 'u'])
  const stored = ['t', 'u'].flatMap((name) => {
    const table = find(name)
    return table?.structure ? [table] : []
  })
  const { scan } = db
  t.afterEach(() => {
    db.scan = scan
  })

  t.test('that takes too long leaves the fields open, and the refresh succeeds', async (t) => {
    db.scan = () => Promise.reject(new DomainError('SCAN_TIMEOUT', 'Too long.'))
    await refresh()
    t.strictSame(exact(), ['rowid'])
    db.scan = scan
    await refresh()
    t.strictSame(exact(), ['rowid', 'a'])
  })
  t.test('of a table that SQLite cannot read leaves the fields open', async (t) => {
    db.scan = () => Promise.reject(new DomainError('STRUCTURE_CHANGED', 'Gone.'))
    t.strictSame(await createMeasurement(db)(serviceCaller, stored), [new Map(), new Map()])
  })
  t.test('that fails otherwise fails the request', async (t) => {
    db.scan = () => Promise.reject(new DomainError('AUTHENTICATION_REQUIRED', 'Ended.'))
    await t.rejects(refresh(), { code: 'AUTHENTICATION_REQUIRED' })
  })
  t.test('of several tables ends when its time is over', async (t) => {
    const measure = createMeasurement(db)
    const both = [new Map([['a', 'TEXT']]), new Map([['a', 'TEXT']])]
    t.strictSame(await measure(serviceCaller, stored), both)
    t.strictSame(await measure(serviceCaller, stored, 0), [new Map(), new Map()])
  })
})

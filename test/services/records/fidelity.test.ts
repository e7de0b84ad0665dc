import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { rejection, sql } from '../engine/engine.ts'
import { startServices } from '../services.ts'

const wide = (count: number, type: string) =>
  Array.from({ length: count }, (_, index) => `c${index} ${type}`).join(', ')

const SCHEMA = `
  CREATE TABLE loose (id INTEGER PRIMARY KEY, i INTEGER, r REAL, n NUMERIC, s TEXT, u, b BLOB, yes BOOLEAN, d DATE);
  INSERT INTO loose VALUES
    (1, 9223372036854775807, 0.1, 0.1, 'x', 5, x'00ff', 1, '2024-01-01'),
    (2, 1.5, 9e999, -9e999, x'00', '5', 'text', 2, 20240101),
    (3, 'text', 'text', 'text', 7, x'ff', NULL, 'maybe', NULL),
    (4, -9007199254740992, 5e-324, 9007199254740993, CAST(x'ff41' AS TEXT), 9e999, x'', 0, x'01'),
    (5, 9007199254740991, -0.0, 1e15, 'a' || char(0) || 'b', 0.30000000000000004, zeroblob(1), NULL, 1.5);
  CREATE TABLE "a""b" ("" TEXT, "__proto__" TEXT, "it's" INTEGER, "a""b" TEXT, "x,y" TEXT, "select" TEXT, " " TEXT, "%s" TEXT);
  INSERT INTO "a""b" VALUES ('empty', 'proto', 1, 'quote', 'comma', 'keyword', 'space', 'percent');
  CREATE TABLE text_keys (code TEXT PRIMARY KEY, v INTEGER);
  INSERT INTO text_keys VALUES ('7', 1), ('7.0', 2), ('', 3), (NULL, 4), (NULL, 5), ('a/b,c%', 6);
  CREATE TABLE pairs (a TEXT, b INTEGER, v TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
  INSERT INTO pairs VALUES ('x,y', 1, 'comma'), ('%2C', 2, 'percent'), ('', 3, 'empty'), ('z', 9007199254740993, 'wide');
  CREATE TABLE untyped (k PRIMARY KEY, v TEXT);
  INSERT INTO untyped VALUES (5, 'number'), ('6', 'text'), ('01', 'zero'), (1.5, 'real');
  CREATE TABLE bytes (k PRIMARY KEY, v TEXT, n INTEGER);
  CREATE TABLE strict_bytes (k ANY PRIMARY KEY, v TEXT, n INTEGER) STRICT;
  CREATE TABLE pairs_of_bytes (k, m, v TEXT, n INTEGER, PRIMARY KEY (m, k)) WITHOUT ROWID;
  INSERT INTO bytes VALUES (x'35', 'bytes', 0), (x'', 'none', 0), (x'00ff', 'both', 0), ('AP8=', 'both', 0), ('NQ', 'text', 0);
  INSERT INTO strict_bytes SELECT * FROM bytes;
  INSERT INTO pairs_of_bytes SELECT k, 1, v, n FROM bytes;
  CREATE TABLE twins (k PRIMARY KEY, v TEXT, n INTEGER);
  INSERT INTO twins VALUES (5, 'number', 0), ('5', 'text', 0), ('6', 'text', 0);
  CREATE TABLE keyless (a TEXT);
  INSERT INTO keyless VALUES ('one'), ('two');
  CREATE TABLE generated (id INTEGER PRIMARY KEY, a INTEGER, twice INTEGER AS (a * 2), stored TEXT AS ('v' || a) STORED);
  INSERT INTO generated (id, a) VALUES (1, 4);
  CREATE TABLE wide (id INTEGER PRIMARY KEY, ${wide(600, 'TEXT')});
  INSERT INTO wide (id, c0, c599) VALUES (1, 'first', 'last');
  CREATE TABLE widest (id INTEGER PRIMARY KEY, ${wide(1999, 'TEXT')});
  INSERT INTO widest (id, c0, c1998) VALUES (1, 'first', 'last');
  CREATE TABLE strict_ones (id INTEGER PRIMARY KEY, i INTEGER, r REAL, a ANY) STRICT;
  INSERT INTO strict_ones VALUES (1, 9223372036854775807, 9e999, 1), (2, NULL, 1e300, x'00'), (3, 0, 3, 'text');
`

t.test('records of tables that another program has created', async (t) => {
  const { serve, tables, db, external } = await startServices(t, SCHEMA)

  t.test('values that do not fit their column are returned as they are stored', async (t) => {
    const { read } = await serve('loose')
    t.strictSame(await read('1'), {
      id: 1,
      i: '9223372036854775807',
      r: 0.1,
      n: 0.1,
      s: 'x',
      u: 5,
      b: 'AP8=',
      yes: true,
      d: '2024-01-01'
    })
    t.strictSame(await read('2'), {
      id: 2,
      i: 1.5,
      r: null,
      n: null,
      s: 'AA==',
      u: '5',
      b: 'text',
      yes: 2,
      d: 20240101
    })
    t.strictSame(await read('3'), {
      id: 3,
      i: 'text',
      r: 'text',
      n: 'text',
      s: '7',
      u: '/w==',
      b: null,
      yes: 'maybe',
      d: null
    })
    t.strictSame(await read('4'), {
      id: 4,
      i: '-9007199254740992',
      r: 5e-324,
      n: '9007199254740993',
      s: '\ufffdA',
      u: null,
      b: '',
      yes: false,
      d: 'AQ=='
    })
    t.strictSame(await read('5'), {
      id: 5,
      i: 9007199254740991,
      r: 0,
      n: 1e15,
      s: 'a\0b',
      u: 0.30000000000000004,
      b: 'AA==',
      yes: null,
      d: 1.5
    })
  })

  t.test('extreme values in STRICT tables are returned exactly', async (t) => {
    const { list } = await serve('strict_ones')
    t.strictSame((await list()).rows, [
      { id: 1, i: '9223372036854775807', r: null, a: 1 },
      { id: 2, i: null, r: 1e300, a: 'AA==' },
      { id: 3, i: 0, r: 3, a: 'text' }
    ])
  })

  t.test('a double keeps all of its bits', async (t) => {
    const { create, read } = await serve('generated')
    t.equal((await create({ a: 5 })).twice, 10)
    t.equal((await read('2')).stored, 'v5')
    const { id } = await tables.create(serviceCaller, {
      name: 'reals',
      label: '',
      fields: [{ name: 'r', jsonType: 'number' }]
    })
    t.ok(id > 0)
    const random = Array.from({ length: 500 }, (_, index) => (Math.random() - 0.5) * 10 ** ((index % 600) - 300))
    await db.write(random.map((value) => sql('INSERT INTO reals (r) VALUES (?)', value)))
    const text = await db.readText(sql('SELECT json_group_array(r) FROM (SELECT r FROM reals ORDER BY id)'))
    t.strictSame(JSON.parse(String(text)), random)
  })

  t.test('unusual names work like all other names', async (t) => {
    const { read, create, update, list, increment, exported, remove } = await serve('a"b')
    const first = await read('1')
    t.strictSame(Object.entries(first).length, 9)
    t.equal(first[''], 'empty')
    t.equal(Object.getOwnPropertyDescriptor(first, '__proto__')?.value, 'proto')
    t.equal(first['a"b'], 'quote')

    t.match(await create({ '': 'e2', "it's": 5, 'x,y': 'c2', ' ': 's2' }), { rowid: 2, '': 'e2', "it's": 5 })
    await update('2', { 'a"b': "O'Brien", select: '"', '%s': '%' })
    await increment('2', "it's", 2)
    t.match(await read('2'), { 'a"b': "O'Brien", select: '"', '%s': '%', "it's": 7 })
    t.strictSame(
      (await list({ order: '-a"b' })).rows.map(({ rowid }: { rowid: number }) => rowid),
      [1, 2]
    )
    t.strictSame(
      (await list({ order: "it's desc" })).rows.map(({ rowid }: { rowid: number }) => rowid),
      [2, 1]
    )
    t.equal((await list({ q: 'brien' })).total, 1)
    t.match(await exported(), /^"rowid","","__proto__","it's","a""b","x,y","select"," ","%s"\r\n1,"empty","proto",1,/)
    await remove('2')
    t.equal((await list()).total, 1)
    t.match(await rejection(create(JSON.parse('{"__proto__":"x"}'))), {
      code: 'VALIDATION_FAILED',
      details: [{ code: 'unknown' }]
    })
  })

  t.test('text keys stay text; records without a key value are listed', async (t) => {
    const { read, list, exported } = await serve('text_keys')
    t.equal((await read('7')).v, 1)
    t.equal((await read('7.0')).v, 2)
    t.equal((await read('')).v, 3)
    t.equal((await read('a/b,c%')).v, 6)
    t.match(await rejection(read('07')), { code: 'RECORD_NOT_FOUND' })
    const pages = [1, 2, 3].map((page) => list({ page, size: 2 }))
    const values = (await Promise.all(pages)).flatMap(({ rows }) => rows.map(({ v }: { v: number }) => v))
    t.strictSame(values, [4, 5, 3, 1, 2, 6])
    t.equal((await exported({ order: '-v' })).split('\r\n').length, 8)
  })

  t.test('composite keys are read part by part, WITHOUT ROWID too', async (t) => {
    const { id, read, update, increment, remove, list, exported, create } = await serve('pairs')
    t.equal(tables.get(id).structure.key.join(','), 'a,b')
    t.equal((await read('x%2Cy,1')).v, 'comma')
    t.equal((await read('%252C,2')).v, 'percent')
    t.equal((await read(',3')).v, 'empty')
    t.equal((await read('z,9007199254740993')).v, 'wide')
    for (const pk of ['x', 'x,y,1', 'z,9007199254740992', 'x%2Cy,01', '%']) {
      t.match(await rejection(read(pk)), { code: 'RECORD_NOT_FOUND' }, pk)
    }
    await update('z,9007199254740993', { v: 'changed' })
    t.equal((await read('z,9007199254740993')).v, 'changed')
    t.match(await rejection(increment(',3', 'b')), { code: 'NOT_INCREMENTABLE' })
    t.match(await rejection(create({ a: 'only' })), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/b', code: 'required' }]
    })
    t.match(await rejection(create({ a: ',', b: null })), { details: [{ path: '/b', code: 'required' }] })
    t.match(await rejection(create({ a: 'z', b: '9007199254740993' })), { code: 'UNIQUE_VIOLATION' })
    await remove(',3')
    t.equal((await list({ order: 'v' })).total, 3)
    t.equal(await exported({ q: 'comma' }), '"a","b","v"\r\n"x,y",1,"comma"\r\n')
  })

  t.test('a key without affinity is found as a number or as text', async (t) => {
    const { read } = await serve('untyped')
    t.equal((await read('5')).v, 'number')
    t.equal((await read('6')).v, 'text')
    t.equal((await read('01')).v, 'zero')
    t.equal((await read('1.5')).v, 'real')
    for (const pk of ['05', '5.0', '06', '1']) t.match(await rejection(read(pk)), { code: 'RECORD_NOT_FOUND' }, pk)
  })

  t.test('two keys with the same text are a conflict, unless the body contains the key', async (t) => {
    const { update, remove, increment, list } = await serve('twins')
    for (const request of [() => update('5', { v: 'x' }), () => remove('5'), () => increment('5', 'n')]) {
      t.match(await rejection(request()), {
        code: 'STRUCTURE_CHANGED',
        message: /Two records have the primary key '5'/
      })
    }
    await update('5', { k: 5, v: 'a number' })
    await update('5', { k: '5', v: 'a text' })
    t.match(await rejection(update('6', { k: 6, v: 'x' })), { details: [{ path: '/k', code: 'readonly' }] })
    t.match((await list({ order: 'n' })).rows, [
      { k: 5, v: 'a number' },
      { k: '5', v: 'a text' },
      { k: '6', v: 'text' }
    ])
  })

  t.test('a BLOB key is found by its base64 text', async (t) => {
    for (const [name, prefix] of [
      ['bytes', ''],
      ['strict_bytes', ''],
      ['pairs_of_bytes', '1,']
    ] as const) {
      const { read, update, increment, remove, list } = await serve(name)
      const five = `${prefix}NQ==`
      const record = await read(five)
      t.match(record, { k: 'NQ==', v: 'bytes' }, name)
      t.equal((await read(prefix)).v, 'none')
      t.equal((await read(`${prefix}NQ`)).v, 'text')
      for (const pk of ['NR==', 'NQ=', '5', 'nq=='])
        t.match(await rejection(read(`${prefix}${pk}`)), { code: 'RECORD_NOT_FOUND' }, pk)
      await update(five, { v: 'changed' })
      await update(five, { ...record, v: 'with its key' })
      await increment(five, 'n')
      t.match(await read(five), { v: 'with its key', n: 1 })

      const both = `${prefix}AP8=`
      for (const request of [
        () => update(both, { v: 'x' }),
        () => remove(both),
        () => update(both, { k: 'AP8=', v: 'x' })
      ])
        t.match(await rejection(request()), {
          code: 'STRUCTURE_CHANGED',
          message: /Two records have the primary key '.*AP8='/
        })
      t.equal((await read(both)).v, 'both')
      await remove(five)
      t.equal((await list()).total, 4)
    }
  })

  t.test('a table without a key is served by its rowid', async (t) => {
    const { read, create, update, remove } = await serve('keyless')
    t.strictSame(await read('2'), { rowid: 2, a: 'two' })
    t.strictSame(await create({ a: 'three' }), { rowid: 3, a: 'three' })
    t.strictSame(await create({ rowid: 10, a: 'ten' }), { rowid: 10, a: 'ten' })
    await update('10', { a: 'TEN' })
    await remove('3')
    t.match(await rejection(read('3')), { code: 'RECORD_NOT_FOUND' })
  })

  t.test('generated columns stay read-only, whatever their flag is set to', async (t) => {
    const table = tables.find('generated')
    if (!table) throw new Error('imported above')
    await tables.update(serviceCaller, table.id, { fields: [{ name: 'twice', isReadonly: false }] })
    t.equal(tables.get(table.id).structure.columns.find(({ name }) => name === 'twice')?.isReadonly, true)
  })

  t.test('wide tables are served with all columns', async (t) => {
    for (const [name, last, columns] of [
      ['wide', 'c599', 601],
      ['widest', 'c1998', 2000]
    ] as const) {
      const { read, update, list, exported, create } = await serve(name)
      const record = await read('1')
      t.equal(Object.keys(record).length, columns)
      t.match(record, { id: 1, c0: 'first', [last]: 'last' })
      await update('1', { [last]: 'changed' })
      t.equal((await list({ q: 'CHANGED', order: `-${last}` })).total, 1)
      const [header = '', line = ''] = (await exported()).split('\r\n')
      t.equal(header.split(',').length, columns)
      t.match(line, /^1,"first",.*,"changed"$/)
      const all = Object.fromEntries(Array.from({ length: columns - 1 }, (_, index) => [`c${index}`, String(index)]))
      t.strictSame(await create(all), { id: 2, ...all })
    }
  })

  t.test('the database file is still intact', async (t) => {
    t.equal(external.pragma('integrity_check', { simple: true }), 'ok')
  })
})

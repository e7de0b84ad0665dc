import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { startServices } from '../services.ts'

const MIB = 1024 * 1024

const SCHEMA = `
  CREATE TABLE docs (id INTEGER PRIMARY KEY, n INTEGER, body TEXT);
  WITH i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 1112)
    INSERT INTO docs SELECT i, -i, CASE WHEN i <= 1100 THEN 'narrow' ELSE printf('%.*c', 1000000, 'x') END FROM i;
  CREATE TABLE slugs (slug TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID;
  INSERT INTO slugs SELECT 'doc' || id, body FROM docs WHERE id > 1100;
  CREATE TABLE pictures (id INTEGER PRIMARY KEY, picture BLOB);
  INSERT INTO pictures SELECT id, zeroblob(1000000) FROM docs WHERE id > 1100;
  CREATE TABLE giants (id INTEGER PRIMARY KEY, body TEXT);
  INSERT INTO giants VALUES (1, printf('%.*c', 9000000, 'x')), (2, printf('%.*c', 9000000, 'y'));
  CREATE TABLE broad (id INTEGER PRIMARY KEY, ${Array.from({ length: 1500 }, (_, index) => `c${index} INTEGER`).join(', ')}) STRICT;
  INSERT INTO broad (id) SELECT id FROM docs WHERE id <= 100;
  CREATE TABLE bytes (id INTEGER PRIMARY KEY, ${Array.from({ length: 100 }, (_, index) => `b${index} BLOB`).join(', ')});
  INSERT INTO bytes (id) SELECT id FROM docs WHERE id <= 200;
  CREATE TABLE computed (id INTEGER PRIMARY KEY, n INTEGER, twice INTEGER AS (2 * n));
  INSERT INTO computed SELECT id, -id FROM docs WHERE id <= 10;
  CREATE TABLE growing (id INTEGER PRIMARY KEY, n INTEGER, body TEXT);
  INSERT INTO growing SELECT id, -id, CASE WHEN id BETWEEN 901 AND 908 THEN printf('%.*c', 400000, 'x') ELSE 'narrow' END FROM docs;
`

t.test('pages and steps of large records', async (t) => {
  const { serve, db, exports } = await startServices(t, SCHEMA)

  /** The length of each text that was made on the event loop. 0: no text, the limit was exceeded. */
  const loopLengths: number[] = []
  const { read, readText } = db
  Object.assign(db, {
    read: async (statement: Parameters<typeof read>[0]) => {
      const rows = await read(statement)
      const text = rows[0]?.text
      if (text !== undefined) loopLengths.push(String(text ?? '').length)
      return rows
    },
    readText: async (statement: Parameters<typeof readText>[0]) => {
      const text = await readText(statement)
      loopLengths.push(text?.length ?? 0)
      return text
    }
  })

  const tooLarge = { code: 'RESPONSE_TOO_LARGE', hint: /smaller `size`/ }
  const pages: readonly [kind: string, table: string, tooLarge: object, allowed: object][] = [
    ['near the start', 'docs', { order: '-id', size: 12 }, { order: '-id', size: 6 }],
    ['by its key position', 'docs', { page: 12, size: 100 }, { page: 185, size: 6 }],
    ['from the end', 'docs', { page: 1, size: 1000, order: '-id' }, { page: 12, size: 100, order: '-id' }],
    ['sorted', 'docs', { order: 'n', size: 12 }, { order: 'n', size: 6 }],
    ['searched', 'docs', { q: 'xx', size: 12 }, { q: 'xx', size: 6 }],
    ['of a table without a rowid', 'slugs', { size: 12 }, { size: 6 }],
    ['searched, of a table without a rowid', 'slugs', { q: 'doc', size: 12 }, { q: 'doc', size: 6 }],
    ['of BLOBs', 'pictures', { size: 12 }, { size: 6 }],
    ['of two large records', 'giants', { size: 2 }, { size: 1 }]
  ]
  for (const [kind, name, refused, allowed] of pages) {
    t.test(`a page of more than 8 MiB is refused, a smaller one is returned: ${kind}`, async (t) => {
      const { list, exported } = await serve(name)
      await t.rejects(list(refused), tooLarge)
      await t.rejects(exported({ page: 1, ...refused }), tooLarge)
      const { rows } = await list(allowed)
      t.ok(rows.length > 0)
      t.equal((await exported({ page: 1, ...allowed })).split('\r\n').length, rows.length + 2)
    })
  }

  t.test('a page of one record is returned, whatever its size', async (t) => {
    const { list } = await serve('giants')
    for (const query of [{ size: 1 }, { page: 2, size: 1 }, { q: 'y' }, { order: '-body', size: 1 }])
      t.equal((await list(query)).rows[0].body.length, 9_000_000, JSON.stringify(query))
  })

  t.test('a page with a row of more than its share of 1 MiB is made in a reader thread', async (t) => {
    const { list } = await serve('docs')
    const ids = async (query: object) => (await list(query)).rows.map(({ id }: { id: number }) => id)
    loopLengths.length = 0
    for (const attempt of [1, 2]) {
      t.strictSame(await ids({ order: '-id', size: 3 }), [1112, 1111, 1110], `from the end, ${attempt}`)
      t.strictSame(await ids({ page: 276, size: 4 }), [1101, 1102, 1103, 1104], `by key position, ${attempt}`)
      t.strictSame(await ids({ page: 367, size: 3 }), [1099, 1100, 1101], `with one wide row, ${attempt}`)
    }
    t.strictSame(loopLengths, [0, 0, 0, 0, 0, 0], 'each page was tried on the event loop first')
    loopLengths.length = 0
    t.strictSame(await ids({ page: 1101, size: 1 }), [1101], 'a page of one row may use all of the limit')
    t.strictSame(await ids({ page: 366, size: 3 }), [1096, 1097, 1098])
    t.ok(Number(loopLengths[0]) > 1_000_000 && Number(loopLengths[1]) > 50, 'made on the event loop')
  })

  t.test('a page with many columns is made in a reader thread, however short its values are', async (t) => {
    const { list } = await serve('broad')
    loopLengths.length = 0
    t.equal((await list({ size: 100 })).rows.length, 100)
    t.strictSame(loopLengths, [], 'not tried on the event loop')
    t.equal((await list({ size: 3 })).rows.length, 3)
    t.equal(loopLengths.length, 1)
  })

  t.test('a record of more than 1 MiB is made in a reader thread, a smaller one on the event loop', async (t) => {
    const { read } = await serve('giants')
    loopLengths.length = 0
    t.equal((await read('2')).body.length, 9_000_000)
    t.strictSame(loopLengths, [0], 'tried on the event loop first')
    await t.rejects(read('3'), { code: 'RECORD_NOT_FOUND' })
    const docs = await serve('docs')
    loopLengths.length = 0
    t.equal((await docs.read('1112')).body.length, 1_000_000)
    t.ok(Number(loopLengths[0]) > 1_000_000)
  })

  t.test('a page with many BLOBs is made in a reader thread, however short they are', async (t) => {
    const { list, read } = await serve('bytes')
    loopLengths.length = 0
    t.equal((await list({ size: 200 })).rows.length, 200)
    t.strictSame(loopLengths, [], 'not tried on the event loop')
    t.equal((await list({ size: 100 })).rows.length, 100)
    t.equal((await read('7')).b99, null)
    t.equal(loopLengths.length, 2)
  })

  t.test('records with generated columns are made in a reader thread: their expressions may be slow', async (t) => {
    const { list, read } = await serve('computed')
    loopLengths.length = 0
    t.strictSame((await list({ size: 1 })).rows, [{ id: 1, n: -1, twice: -2 }])
    t.strictSame(await read('2'), { id: 2, n: -2, twice: -4 })
    await t.rejects(read('11'), { code: 'RECORD_NOT_FOUND' })
    t.strictSame(loopLengths, [])
  })

  t.test('a step of an export is small, even if later rows are wider', async (t) => {
    const { access, exported } = await serve('growing')
    for (const query of [{}, { order: '-id' }, { order: 'n' }, { order: 'n,-id' }, { q: 'r' }]) {
      const lengths: number[] = []
      for await (const chunk of await exports.exportRecords(serviceCaller, access(), query)) lengths.push(chunk.length)
      t.ok(Math.max(...lengths) <= MIB, JSON.stringify(query))
      t.ok(lengths.length < 50, 'steps are not needlessly small')
      const lines = (await exported(query)).split('\r\n').slice(1, -1)
      const wide = 'q' in query ? 0 : 8
      t.equal(new Set(lines.map((line) => line.split(',')[0])).size, 1104 + wide)
      t.equal(lines.length, 1104 + wide)
      t.equal(lines.filter((line) => line.length > 400_000).length, wide)
    }
  })

  t.test('an export contains records that are larger than a page may be', async (t) => {
    const { exported } = await serve('giants')
    for (const query of [{}, { order: '-body' }]) t.equal((await exported(query)).split('\r\n')[2]?.length, 9_000_004)
  })
})

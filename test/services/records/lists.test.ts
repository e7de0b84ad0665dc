import t from 'tap'
import { createScan } from '../../../services/engine/reader/scan.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { countRows } from '../../../services/sql/selections.ts'
import { startServices, tokenCaller } from '../services.ts'

const SCHEMA = `
  CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, price REAL, born DATE, any_thing, picture BLOB, tags JSON);
  INSERT INTO cats (id, name, age, price, born, any_thing, picture) VALUES
    (1, 'Tom', 3, 1.5, '2020-05-01', 'tomato', x'546f6d'), (2, 'tomcat', 12, 3, 20200501, 3, NULL), (3, 'Ärger', NULL, NULL, NULL, NULL, NULL),
    (4, '100%', 3, 0.1, NULL, x'746f6d', NULL), (5, '1000', 9223372036854775807, 1e300, NULL, 'a_b', NULL), (6, 'a\\b', 0, 0, NULL, 'axb', NULL);
  CREATE TABLE many (id INTEGER PRIMARY KEY, n INTEGER, filler TEXT);
  WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO many SELECT i, i % 7, 'x' FROM n;
  CREATE TABLE gaps (id INTEGER PRIMARY KEY, n INTEGER);
  INSERT INTO gaps SELECT id * 3, n FROM many;
  CREATE TABLE edges (id INTEGER PRIMARY KEY, v TEXT);
  INSERT INTO edges VALUES (-9223372036854775808, 'first'), (0, 'middle'), (9223372036854775807, 'last');
  CREATE TABLE colliding (k0 TEXT PRIMARY KEY, position INTEGER, k TEXT, line TEXT) WITHOUT ROWID;
  INSERT INTO colliding VALUES ('b', 1, 'x', 'l1'), ('a', 2, 'y', 'l2');
  CREATE TABLE empty (id INTEGER PRIMARY KEY, v TEXT);
  CREATE TABLE formulas (id INTEGER PRIMARY KEY, v TEXT, "=header" REAL);
  INSERT INTO formulas VALUES (1, '=1+1', -1.5), (2, '  =1', 0.30000000000000004), (3, '+49', NULL), (4, '-5', 1), (5, '@x', 1), (6, char(9) || 'x', 1),
    (7, char(13) || 'x', 1), (8, 'a=1', 1), (9, '', 1), (10, NULL, 1), (11, 'say "hi"', 1), (12, 'a,b', 1), (13, 'two' || char(10) || 'lines', 1),
    (14, char(160) || '=1', 1), (15, 'Ünï', 9e999);
`

type Page = { rows: readonly { id: number }[]; total: number; page: number; size: number }

const ids = ({ rows }: Page) => rows.map(({ id }) => id)

t.test('lists and exports', async (t) => {
  const { file, db, serve, tables, accessOf, records, exports, registry, totals, external } = await startServices(
    t,
    SCHEMA
  )

  t.test('the count of all rows stops with the service, like every scan', async (t) => {
    const { access } = await serve('many')
    const count = countRows({ table: access().table, dialect: db.dialect, rows: null, filter: null, joins: [] })
    const stop = new Int32Array(new SharedArrayBuffer(4))
    const scan = createScan({ file, cacheSize: 1, stop })
    t.strictSame(scan(count), { rows: [{ total: 5000 }] })
    Atomics.store(stop, 0, 1)
    t.match(scan(count), { error: { code: 'ENGINE_STOPPED' } })
  })

  t.test('q is a case-insensitive substring of text fields, or a number in numeric ones', async (t) => {
    const { list } = await serve('cats')
    const expected: Record<string, number[]> = {
      TOM: [1, 2],
      '3': [1, 2, 3, 4],
      '3.0': [1, 2, 3, 4],
      '0.1': [4],
      '9223372036854775807': [5],
      '+12': [2],
      '100': [4, 5],
      '100%': [4],
      a_b: [5],
      'a\\b': [6],
      ärger: [3],
      ÄRGER: [3],
      '2020': [1, 2],
      '%': [4],
      '1e400': [],
      "'": [],
      ' tom': []
    }
    for (const [q, found] of Object.entries(expected)) {
      const page = await list({ q })
      t.strictSame({ ids: ids(page), total: page.total }, { ids: found, total: found.length }, q)
    }
    t.equal((await list({ q: '' })).total, 6)
    t.equal((await list({ q: '%'.repeat(255) })).total, 0)
  })

  t.test('a search without a searchable field finds nothing', async (t) => {
    const { id, list } = await serve('edges')
    t.equal((await list({ q: 'first' })).total, 1)
    await tables.update(serviceCaller, id, { fields: [{ name: 'v', isHidden: true }] })
    const found = await records.list(serviceCaller, accessOf(tokenCaller, tables.get(id), []), { q: 'first' })
    t.strictSame(JSON.parse(found), { rows: [], total: 0, page: 1, size: 20 })
    await tables.update(serviceCaller, id, { fields: [{ name: 'v', isHidden: false }] })
  })

  t.test('each page has the right rows, whatever its position and plan', async (t) => {
    for (const name of ['many', 'gaps']) {
      const { list } = await serve(name)
      const step = name === 'many' ? 1 : 3
      const all = Array.from({ length: 5000 }, (_, index) => (index + 1) * step)
      for (const page of [1, 2, 50, 51, 130, 250]) {
        const from = (page - 1) * 20
        t.strictSame(ids(await list({ page })), all.slice(from, from + 20), `${name}, page ${page}`)
        t.strictSame(
          ids(await list({ page, order: '-id' })),
          all.toReversed().slice(from, from + 20),
          `${name}, page ${page}, descending`
        )
      }
      t.strictSame(await list({ page: 251 }), { rows: [], total: 5000, page: 251, size: 20 })
      t.strictSame(await list({ page: 999_999_999, size: 1000 }), {
        rows: [],
        total: 5000,
        page: 999_999_999,
        size: 1000
      })
      t.match(await list({ size: 999_999_999 }), { size: 1000 })
    }
  })

  t.test('rows with equal values are ordered by the key', async (t) => {
    const { list } = await serve('many')
    const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => list({ order: '-n', page, size: 1000 })))
    const all = pages.flatMap((page) => page.rows as { id: number; n: number }[])
    t.equal(new Set(all.map(({ id }) => id)).size, 5000)
    const sorted = [...all].sort((a, b) => b.n - a.n || a.id - b.id)
    t.strictSame(all, sorted)
    t.strictSame(ids(await list({ order: 'n desc,-id', size: 2 })), [4997, 4990])
  })

  t.test('pages of text keys are right after the rows that the event loop may skip', async (t) => {
    external.exec("CREATE TABLE words (k TEXT PRIMARY KEY); INSERT INTO words SELECT printf('%05d', id) FROM gaps")
    const { list } = await serve('words')
    const keysOf = ({ rows }: { rows: readonly { k: string }[] }) => rows.map(({ k }) => k)
    t.strictSame(keysOf(await list({ page: 2, size: 2 })), ['00009', '00012'])
    t.strictSame(keysOf(await list({ page: 2000, size: 2 })), ['11997', '12000'])
    t.strictSame(keysOf(await list({ page: 2, size: 2, order: '-k' })), ['14994', '14991'])
  })

  t.test('keys at both ends of 64 bits are listed and exported', async (t) => {
    const { list, exported } = await serve('edges')
    t.strictSame(
      (await list()).rows.map(({ id }: { id: unknown }) => id),
      ['-9223372036854775808', 0, '9223372036854775807']
    )
    t.equal((await exported()).split('\r\n').length, 5)
    t.equal((await exported({ order: '-id' })).split('\r\n')[1], '9223372036854775807,"last"')
  })

  t.test('an export contains every row once, in every order', async (t) => {
    for (const name of ['many', 'gaps']) {
      const { exported } = await serve(name)
      const { list } = await serve(name)
      const { total } = await list()
      for (const query of [{}, { order: '-id' }, { order: '-n' }, { order: 'n,-id' }]) {
        const lines = (await exported(query)).split('\r\n').slice(1, -1)
        t.equal(new Set(lines.map((line) => line.split(',')[0])).size, total, JSON.stringify(query))
        t.equal(lines.length, total)
      }
    }
    const { exported } = await serve('many')
    t.equal(await exported({ q: '4999' }), '"id","n","filler"\r\n4999,1,"x"\r\n')
    t.equal(await exported({ page: 2, size: 1, order: '-id' }), '"id","n","filler"\r\n4999,1,"x"\r\n')
    t.equal(await exported({ q: '4999', page: 1 }), '"id","n","filler"\r\n4999,1,"x"\r\n')
    t.equal(await exported({ page: 9999 }), '"id","n","filler"\r\n')
    t.equal((await exported({ size: 3 })).split('\r\n').length, 5)
    t.equal((await exported({ page: 1 })).split('\r\n').length, 22)
  })

  t.test('an export without rows is its header, after a byte order mark if requested', async (t) => {
    const { exported } = await serve('empty')
    for (const query of [{}, { order: 'v' }, { q: 'x' }])
      t.equal(await exported(query), '"id","v"\r\n', JSON.stringify(query))
    t.equal(await exported({ bom: true }), '\ufeff"id","v"\r\n')
  })

  t.test('an export distinguishes keys that are equal in the collation of their column', async (t) => {
    external.exec(`CREATE TABLE cases (k TEXT COLLATE NOCASE, n INTEGER, PRIMARY KEY (k COLLATE BINARY)) WITHOUT ROWID;
      INSERT INTO cases VALUES ('abc', 1), ('ABC', 2)`)
    const { exported } = await serve('cases')
    t.equal(await exported({ order: '-n' }), '"k","n"\r\n"ABC",2\r\n"abc",1\r\n')
  })

  t.test('column names do not collide with the names that an export uses', async (t) => {
    const { exported } = await serve('colliding')
    t.equal(
      await exported({ order: '-position' }),
      '"k0","position","k","line"\r\n"a",2,"y","l2"\r\n"b",1,"x","l1"\r\n'
    )
  })

  t.test('text that a spreadsheet would run as a formula is escaped, numbers are not', async (t) => {
    const { exported } = await serve('formulas')
    const lines = [
      '"id","v","\'=header"',
      '1,"\'=1+1",-1.5',
      '2,"\'  =1",0.30000000000000004',
      '3,"\'+49",',
      '4,"\'-5",1.0',
      '5,"\'@x",1.0',
      '6,"\'\tx",1.0',
      '7,"\'\rx",1.0',
      '8,"a=1",1.0',
      '9,"",1.0',
      '10,,1.0',
      '11,"say ""hi""",1.0',
      '12,"a,b",1.0',
      '13,"two\nlines",1.0',
      '14,"\'\u00a0=1",1.0',
      '15,"Ünï",',
      ''
    ]
    t.equal(await exported({ escape: 'formulas' }), lines.join('\r\n'))
    t.equal(await exported({ order: 'id', q: '', escape: 'formulas' }), lines.join('\r\n'))
    t.match(await exported(), /^"id","v","=header"\r\n1,"=1\+1",-1\.5\r\n2," {2}=1",/)
  })

  t.test(
    'two sorted exports run concurrently; an abandoned one, even if unread, frees its reader thread',
    async (t) => {
      const { access, exported } = await serve('many')
      const running = [
        await exports.exportRecords(serviceCaller, access(), { order: 'n' }),
        await exports.exportRecords(serviceCaller, access(), { q: 'x' })
      ]
      await t.rejects(exports.exportRecords(serviceCaller, access(), { order: 'n' }), { code: 'OVERLOADED' })
      t.equal((await exported()).split('\r\n').length, 5002)
      for (const rows of running) await rows.return(undefined)
      t.equal((await exported({ order: 'n' })).split('\r\n').length, 5002)
    }
  )

  t.test('rows that are deleted during an export are left out', async (t) => {
    const { access } = await serve('many')
    const rows = await exports.exportRecords(serviceCaller, access(), { order: 'n' })
    await rows.next()
    await rows.next()
    external.exec('DELETE FROM many')
    const rest: unknown[] = []
    for await (const chunk of rows) rest.push(chunk)
    t.strictSame(rest, [])
  })

  t.test('an order by an unknown field is refused before an export begins', async (t) => {
    const { access } = await serve('gaps')
    await t.rejects(exports.exportRecords(serviceCaller, access(), { order: 'gone' }), { code: 'VALIDATION_FAILED' })
  })

  t.test('a total is cached, includes our own writes, and is counted again after an external commit', async (t) => {
    await registry.load()
    totals.clear()
    const { list, create, remove, access } = await serve('empty')
    t.equal((await list()).total, 0)
    await create({ v: 'a' })
    await create({ v: 'b' })
    await remove('1')
    await t.rejects(remove('1'), { code: 'RECORD_NOT_FOUND' })
    t.equal((await list()).total, 1)
    external.exec("INSERT INTO empty (v) VALUES ('external')")
    t.equal(await totals.get(serviceCaller, access().table), 1, 'cached')
    totals.clear()
    t.equal((await list()).total, 2)
  })

  t.test('a count that ran concurrently with a write is not cached', async (t) => {
    const { access } = await serve('empty')
    const { table } = access()
    totals.clear()
    let finish = () => {}
    const write = totals.track(
      [{ table, unit: [], countChange: () => 1 }],
      new Promise<[]>((resolve) => {
        finish = () => resolve([])
      })
    )
    const before = await totals.get(serviceCaller, table)
    finish()
    await write
    t.equal(await totals.get(serviceCaller, table), before, 'counted again: the write stored nothing')
  })
})

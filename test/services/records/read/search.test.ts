import t from 'tap'
import { createScan } from '../../../../services/engine/reader/scan.ts'
import { selectionOf } from '../../../../services/records/read/selection.ts'
import { pageWithTotal } from '../../../../services/sql/pages.ts'
import { bindRecord } from '../../../../services/sql/record-text.ts'
import { startServices } from '../../services.ts'

const ROWS = 20_000

/** `frequency` of a row: "few" in 100 rows, "limit" in 10,000, "above" in one more, "all" in each. */
const SCHEMA = `
  CREATE TABLE crowd (id INTEGER PRIMARY KEY, n INTEGER, words TEXT);
  WITH i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < ${ROWS})
  INSERT INTO crowd SELECT i * 7 - 70000, iif(i % 5 = 0, NULL, i * 7919 % 100),
    'All' || iif(i % 200 = 0, ' few', '') || iif(i % 2 = 0, ' limit', '') || iif(i % 2 = 0 OR i = 7777, ' above', '')
  FROM i;
  CREATE TABLE rowids (words TEXT, n INTEGER);
  INSERT INTO rowids (rowid, words, n) SELECT id, words, n FROM crowd;
  CREATE TABLE keyed (id INTEGER, n INTEGER, words TEXT, PRIMARY KEY (id)) WITHOUT ROWID;
  INSERT INTO keyed SELECT * FROM crowd;
  CREATE TABLE odd (id INTEGER PRIMARY KEY, words TEXT, anything);
  CREATE TABLE wide (id INTEGER PRIMARY KEY, words TEXT);
  INSERT INTO wide SELECT id, printf('%.5000c', 'x') FROM crowd LIMIT 50;
  INSERT INTO odd VALUES (1, x'616c6c', 'x'), (2, 'x', x'616c6c'), (3, 'all', NULL), (4, NULL, 'ALL'), (5, 5, 5);
`

interface Row {
  readonly n: number | null
  readonly words: string
}

/** NULL comes first. */
const byNumber = (a: Row, b: Row) => (a.n ?? -1) - (b.n ?? -1)

t.test('a search', async (t) => {
  const { serve, file, external } = await startServices(t, SCHEMA)

  for (const [name, key] of [
    ['crowd', 'id'],
    ['rowids', 'rowid'],
    ['keyed', 'id']
  ] as const) {
    t.test(`returns the right rows and total, whether few rows match or many: ${name}`, async (t) => {
      const { list } = await serve(name)
      const all = external
        .prepare<[], Row>(`SELECT ${key === 'rowid' ? 'rowid, ' : ''}* FROM ${name} ORDER BY ${key}`)
        .all()
      const orders: Record<string, (rows: readonly Row[]) => readonly Row[]> = {
        [key]: (rows) => rows,
        [`-${key}`]: (rows) => rows.toReversed(),
        n: (rows) => rows.toSorted(byNumber),
        [`-n,-${key}`]: (rows) => rows.toSorted(byNumber).toReversed()
      }
      for (const [q, total] of Object.entries({ few: 100, limit: 10_000, above: 10_001, all: ROWS, none: 0 })) {
        const found = all.filter(({ words }) => words.toLowerCase().includes(q))
        for (const [order, sort] of Object.entries(orders)) {
          const sorted = sort(found)
          for (const page of [1, 501]) {
            const rows = sorted.slice((page - 1) * 20, page * 20)
            t.strictSame(await list({ q, order, page }), { rows, total, page, size: 20 }, `${q} ${order} ${page}`)
          }
        }
      }
    })
  }

  t.test('matches no BLOB', async (t) => {
    const { list } = await serve('odd')
    const { rows, total } = await list({ q: 'all' })
    t.strictSame({ ids: rows.map(({ id }: { id: number }) => id), total }, { ids: [3, 4], total: 2 })
    t.equal((await list({ q: '5' })).total, 1)
  })

  /** Returns a function that runs a search, and stops it at the given call of its guard. */
  const scanOf = async (name: string, q: string) => {
    const { access } = await serve(name)
    const {
      all: { json }
    } = access()
    const statement = pageWithTotal({
      selection: selectionOf(access(), { q, order: 'words' }, { mayRead: () => true, accessTo: () => undefined }),
      record: bindRecord(json, []),
      start: { position: null, offset: 0 },
      limit: 20,
      needsNext: false
    })
    const stop = new Int32Array(new SharedArrayBuffer(4))
    return (stopAt = Number.POSITIVE_INFINITY) => {
      Atomics.store(stop, 0, 0)
      // The scan reads the clock when it starts, and in each call of its guard.
      let calls = -1
      const clock = () => {
        calls += 1
        if (calls + 1 === stopAt) Atomics.store(stop, 0, 1)
        return 0
      }
      return { outcome: createScan({ file, cacheSize: 8, stop }, clock)(statement), calls }
    }
  }

  t.test('stops with the service in each of its scans', async (t) => {
    const scan = await scanOf('crowd', 'all')
    const { outcome, calls } = scan()
    t.match(outcome, { rows: [{ total: ROWS }] })
    t.ok(calls >= 2 * Math.floor(ROWS / 4095), `${calls} calls in two scans`)
    for (let call = 1; call <= calls; call += 1)
      t.match(scan(call), { outcome: { error: { code: 'ENGINE_STOPPED' } }, calls: call - 1 }, `at call ${call}`)
  })

  t.test('reads each row once if few rows match', async (t) => {
    const { outcome, calls } = (await scanOf('crowd', 'few'))()
    t.match(outcome, { rows: [{ total: 100 }] })
    t.ok(calls <= 100 + Math.ceil(ROWS / 32), `${calls} calls for 100 keys and one scan`)
  })

  t.test('can be stopped at every wide row', async (t) => {
    const { outcome, calls } = (await scanOf('wide', 'none'))()
    t.match(outcome, { rows: [{ total: 0 }] })
    // The guard also runs at random rows, which may be one of the 50.
    t.ok(calls === 50 || calls === 51, `${calls} calls for 50 wide rows`)
  })
})

const LETTERS = `
  CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT, loose DATETIME);
  INSERT INTO places VALUES (1, 'México', 'x'), (2, 'MÉXICO 50%_\\', 'ÄÖ'), (3, 'Mexico', 5), (4, 'e' || char(0x301), 'éé'),
    (5, x'4dc98978', NULL), (6, 'Straße', 'ΣΟΦΌΣ'), (7, 'İ', 'σοφός'), (8, 'a' || char(0) || 'México', 'Москва');
  CREATE VIEW shown AS SELECT id, name, loose FROM places;
`

t.test('texts are compared in the case of all letters', async (t) => {
  const { serve } = await startServices(t, LETTERS)
  for (const table of ['places', 'shown']) {
    const { list } = await serve(table)
    const idsOf = async (request: Parameters<typeof list>[0]) =>
      (await list(request)).rows.map(({ id }: { id: number }) => id)
    const expected: Record<string, number[]> = {
      MÉXICO: [1, 2, 8],
      méxico: [1, 2, 8],
      Éx: [1, 2, 8],
      É: [1, 2, 4, 8],
      'É\u0301': [],
      'E\u0301': [4],
      'éxico 50%_\\': [2],
      é_ico: [],
      äö: [2],
      МОСКВА: [8],
      SS: [],
      ß: [6],
      σοφόσ: [6],
      ΣΟΦΌς: [7],
      i: [1, 2, 3, 8],
      İ: [7]
    }
    for (const [q, ids] of Object.entries(expected)) t.strictSame(await idsOf({ q }), ids, `${table}: ${q}`)
    for (const [operator, text, ids] of [
      ['startsWith', 'mÉX', [1, 2]],
      ['endsWith', 'ÉXICO', [1]],
      ['contains', 'ÉXICO', [1, 2, 8]]
    ] as const)
      t.strictSame(await idsOf({ filter: { where: { name: { [operator]: text } } } }), ids, `${table}: ${operator}`)
  }
})

t.test('a search of a wide table with many letters has few parameters', async (t) => {
  const names = Array.from({ length: 450 }, (_, index) => `c${index}`)
  const { serve } = await startServices(
    t,
    `CREATE TABLE many (id INTEGER PRIMARY KEY, ${names.map((name) => `${name} TEXT`).join()});
     INSERT INTO many (c7) VALUES ('ДОМ');`
  )
  const { list } = await serve('many')
  t.equal((await list({ q: 'дом' })).total, 1)
  const letters = Array.from({ length: 200 }, (_, index) => String.fromCodePoint(0x400 + index)).join('')
  t.equal((await list({ q: letters })).total, 0)
})

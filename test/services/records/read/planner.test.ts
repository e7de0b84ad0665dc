import t from 'tap'
import type { Statement } from '../../../../services/sql/statement.ts'
import { startServices } from '../../services.ts'

const SCHEMA = `
  CREATE TABLE words (w TEXT, n INTEGER, PRIMARY KEY (w COLLATE NOCASE));
  INSERT INTO words VALUES ('b', 1), ('C', 2), ('a', 3);
  CREATE TABLE sums (id INTEGER PRIMARY KEY, a INTEGER, total INTEGER AS (a + 1));
  INSERT INTO sums (a) VALUES (1);
  CREATE TABLE untyped (k PRIMARY KEY, n INTEGER);
  INSERT INTO untyped VALUES ('a', 1);
  ANALYZE untyped;
  INSERT INTO untyped VALUES ('b', 2), (3, 3), ('full', 9223372036854775807);
  CREATE TABLE items (id INTEGER PRIMARY KEY, indexed INTEGER, plain INTEGER);
  CREATE INDEX items_indexed ON items (indexed);
  WITH i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 1500) INSERT INTO items SELECT i, -i, -i FROM i;
`

type Words = { readonly rows: readonly { readonly w: string }[] }
type Items = { readonly rows: readonly { readonly id: number }[] }

const words = ({ rows }: Words) => rows.map(({ w }) => w)
const ids = ({ rows }: Items) => rows.map(({ id }) => id)

t.test('the plan of a statement', async (t) => {
  const { serve, db, registry, external } = await startServices(t, SCHEMA)
  const planned: string[] = []
  const scanned: string[] = []
  const { plan, scan } = db
  db.plan = (statement) => {
    planned.push(statement.sql)
    return plan(statement)
  }
  db.scan = (statement, caller) => {
    // An import measures the values.
    if (!statement.sql.startsWith('SELECT max(CASE')) scanned.push(statement.sql)
    return scan(statement, caller)
  }
  const reset = () => {
    planned.length = 0
    scanned.length = 0
  }
  t.beforeEach(reset)

  t.test('is cached, and a page that must be sorted runs in a reader thread', async (t) => {
    const { read, list } = await serve('words')
    for (let times = 0; times < 3; times += 1) {
      t.strictSame(words(await list()), ['C', 'a', 'b'])
      t.equal((await read('C')).n, 2)
    }
    t.equal(planned.length, 2)
    t.equal(scanned.length, 3)
  })

  t.test('is read again after an external commit, which may have created an index', async (t) => {
    external.exec('CREATE UNIQUE INDEX exact ON words (w)')
    await registry.load()
    const { list } = await serve('words')
    t.strictSame(words(await list()), ['C', 'a', 'b'])
    t.equal(planned.length, 1)
    t.equal(scanned.length, 0)
  })

  t.test('sends a key that needs a full scan to a reader thread', async (t) => {
    const { read, update, increment } = await serve('untyped')
    t.strictSame(await read('b'), { k: 'b', n: 2 })
    t.strictSame(await read('3'), { k: 3, n: 3 })
    await t.rejects(read('c'), { code: 'RECORD_NOT_FOUND' })
    await update('3', { n: 4 })
    await t.rejects(update('c', { n: 4 }), { code: 'RECORD_NOT_FOUND' })
    t.equal(scanned.length, 4)
    t.match(scanned.at(-1), /^SELECT 1 FROM "untyped" WHERE .*alive\(\)/)
    await increment('b', 'n')
    await t.rejects(increment('full', 'n'), { code: 'INCREMENT_OVERFLOW' })
    t.equal(scanned.length, 7)
    t.match(scanned.at(-1), /AS fits FROM "untyped" WHERE .*alive\(\)/)
  })

  t.test('is not read for a record with generated columns, which always runs in a reader thread', async (t) => {
    const { read } = await serve('sums')
    t.strictSame(await read('1'), { id: 1, a: 1, total: 2 })
    external.exec('DROP TABLE sums')
    await t.rejects(read('1'), { code: 'STRUCTURE_CHANGED' })
    t.equal(planned.length, 0)
  })

  t.test('of a filter finds rows by an index, and reads few of them on the event loop', async (t) => {
    external.exec(`CREATE TABLE sold (id INTEGER PRIMARY KEY, day INTEGER, n INTEGER, note TEXT, twice INTEGER AS (n * 2));
      CREATE INDEX sold_day ON sold (day);
      WITH i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 4000)
      INSERT INTO sold SELECT i, CASE WHEN i <= 5 THEN 1 WHEN i <= 505 THEN 2 ELSE 3 END, -i, 'note ' || i FROM i;
      CREATE TABLE wide (id INTEGER PRIMARY KEY, day INTEGER, note TEXT);
      CREATE INDEX wide_day ON wide (day);
      INSERT INTO wide VALUES (1, 1, printf('%.*c', 300000, 'a')), (2, 1, printf('%.*c', 900000, 'b'));
      CREATE TABLE open (id INTEGER PRIMARY KEY, day INTEGER, closed INTEGER);
      CREATE INDEX open_day ON open (day) WHERE closed IS NULL;
      CREATE INDEX open_closed ON open (closed) WHERE closed IS NOT NULL;
      INSERT INTO open VALUES (1, 1, NULL), (2, 1, 1), (3, 2, NULL);`)
    const { list } = await serve('sold')
    const where = (filter: object) => ({ filter: { where: filter } })
    reset()
    t.match(await list({ ...where({ day: { eq: 1 } }), fields: ['n'] }), { total: 5, rows: { length: 5 } })
    t.match(await list({ ...where({ day: { eq: 1 } }), fields: ['n'], order: 'n', size: 2 }), {
      total: 5,
      rows: [{ id: 5 }, { id: 4 }]
    })
    t.match(await list({ ...where({ day: { eq: 1 }, n: { lt: -3 } }), fields: ['n'] }), {
      total: 2,
      rows: [{ id: 4 }, { id: 5 }]
    })
    t.match(await list({ ...where({ day: { eq: 1 }, note: { contains: '2' } }), fields: ['n'] }), { total: 1 })
    t.match(await list({ ...where({ day: { eq: 2 } }), fields: ['n'], size: 1 }), { total: 500, rows: [{ id: 6 }] })
    t.match(await list({ ...where({ day: { eq: 1 } }), fields: ['n'], page: 9 }), { total: 5, rows: [] })
    const sorted = { ...where({ day: { eq: 1 } }), fields: ['n'], order: 'n', size: 2 }
    t.match(await list({ ...sorted, total: false }), { total: -1, rows: [{ id: 5 }, { id: 4 }] })
    t.match(await list({ ...sorted, cursor: '' }), { total: 5, rows: [{ id: 5 }, { id: 4 }], next: /./ })
    t.strictSame(scanned, [])

    t.match(await list({ ...where({ day: { eq: 2 }, n: { lt: -3 } }), fields: ['n'], size: 1 }), { total: 500 })
    t.match(await list({ ...where({ day: { eq: 3 } }), fields: ['n'], size: 1 }), { total: 3495 })
    t.match(await list({ ...where({ n: { eq: -7 } }), fields: ['n'] }), { total: 1 })
    t.equal(scanned.length, 3, 'many rows are read in a reader thread')
    await list(where({ day: { eq: 1 }, n: { lt: 0 } }))
    await list({ ...where({ day: { eq: 1 }, n: { lt: 0 } }), fields: ['n'], order: 'twice' })
    t.equal(scanned.length, 5, 'so are generated columns')

    const ownPlan = db.plan
    db.plan = async (statement) => (statement.sql.includes('IN (SELECT') ? ['SCAN sold'] : ownPlan(statement))
    t.match(await list({ ...where({ day: { eq: 1 } }), fields: ['n'], order: 'note', size: 1 }), { rows: [{ id: 1 }] })
    db.plan = ownPlan
    t.equal(scanned.length, 6, 'so are all rows, if SQLite does not use the index')

    const wide = await serve('wide')
    reset()
    t.match(await wide.list(where({ day: { eq: 1 }, note: { contains: 'b' } })), { total: 1 })
    t.match(await wide.list({ ...where({ day: { eq: 1 }, id: { gt: 0 } }), order: 'note' }), { total: 2 })
    t.equal(scanned.length, 2, 'so are wide rows')

    const open = await serve('open')
    reset()
    const { read } = db
    const reads: Statement[] = []
    db.read = (statement) => {
      reads.push(statement)
      return read(statement)
    }
    t.match(await open.list({ ...where({ day: { eq: 1 }, closed: { isNull: true } }), order: 'closed' }), { total: 1 })
    t.equal(scanned.length, 1)
    t.match(await open.list({ ...where({ closed: { eq: 1 } }), order: 'day' }), { total: 1 })
    t.equal(scanned.length, 1, 'an index serves a filter from which its condition follows')
    db.read = read
    const steps = (await Promise.all(reads.map(plan))).flat()
    t.notOk(
      steps.some((step) => step.startsWith('SCAN open')),
      'an index with a condition, which serves only the whole filter, causes no scan on the event loop'
    )
  })

  t.test('of a list', async (t) => {
    const { list } = await serve('items')
    // A reader thread counts the rows of a large table once.
    await list({ size: 1 })

    t.test('by an indexed column keeps the first page on the event loop, unless it is large', async (t) => {
      t.strictSame(ids(await list({ order: 'indexed', size: 2 })), [1500, 1499])
      t.strictSame(scanned, [])
      t.strictSame(ids(await list({ order: '-indexed,-id', page: 500, size: 2 })), [999, 1000])
      t.equal((await list({ order: 'indexed', size: 251 })).rows.length, 251)
      t.equal(scanned.length, 2)
      t.equal(planned.length, 1)
    })

    t.test('by a column without an index sends every page to a reader thread', async (t) => {
      t.strictSame(ids(await list({ order: 'plain', size: 2 })), [1500, 1499])
      t.equal(scanned.length, 1)
    })

    t.test('by the key keeps every page on the event loop', async (t) => {
      t.strictSame(ids(await list({ page: 502, size: 2 })), [1003, 1004])
      t.strictSame(ids(await list({ order: '-id', page: 502, size: 2 })), [498, 497])
      t.strictSame(scanned, [])
    })

    t.test('is cached for each order', async (t) => {
      const orders = ['id,plain', '-id,plain', 'id,indexed']
      for (const order of [...orders, ...orders]) await list({ order })
      t.equal(planned.length, orders.length)
      t.equal(new Set(planned).size, orders.length)
      await list({ order: orders[0], page: 2, size: 7 })
      t.equal(planned.length, orders.length, 'the plan is the same for every page')
    })

    t.test('is read again after many other orders', async (t) => {
      const names = ['plain', '-plain', '-indexed']
      const nameAt = (order: number, position: number) =>
        names[Math.floor(order / names.length ** position) % names.length]
      const orders = Array.from({ length: 400 }, (_, order) =>
        ['id', ...Array.from({ length: 6 }, (_, position) => nameAt(order, position))].join(',')
      )
      for (const order of orders) await list({ order, size: 1 })
      const before = planned.length
      await list({ order: orders[0], size: 1 })
      t.equal(planned.length, before + 1)
    })

    t.test('is not read for a page after the last row', async (t) => {
      t.strictSame((await list({ order: 'id,plain', page: 999 })).rows, [])
      t.strictSame(planned, [])
      t.strictSame(scanned, [])
    })
  })
})

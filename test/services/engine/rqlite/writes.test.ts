import t from 'tap'
import { type Database, UnexpectedChanges } from '../../../../services/engine/database.ts'
import { rejection, sql } from '../engine.ts'
import { startEngine } from './engine.ts'

const SCHEMA = `
  CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE, CHECK (n < 100));
  CREATE TABLE parents (id INTEGER PRIMARY KEY);
  CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id));`

const insert = (n: number) => sql('INSERT INTO t (n) VALUES (?) RETURNING id, n', BigInt(n))
const numbers = async (db: Database) => (await db.read(sql('SELECT n FROM t ORDER BY id'))).map(({ n }) => n)

t.test('a unit returns the changes and the rows of each statement', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  const results = await db.write([
    insert(1),
    sql('INSERT INTO t (n) VALUES (2), (3)'),
    { ...sql('UPDATE t SET n = n + 10 WHERE n > ?', 1n), expect: 2 },
    { ...sql('SELECT n FROM t WHERE n > 10'), expect: 2 },
    sql('DELETE FROM t WHERE n = 99'),
    sql('DELETE FROM t WHERE n = 99 RETURNING n')
  ])
  t.strictSame(
    results.map(({ changes, rows }) => [changes, rows.map((row) => ({ ...row }))]),
    [
      [1, [{ id: 1, n: 1 }]],
      [2, []],
      [2, []],
      [2, []],
      [0, []],
      [0, []]
    ]
  )
})

t.test('rows are returned for statements that the parser of rqlite does not know', async (t) => {
  const { db } = await startEngine(
    t,
    `CREATE TABLE odd (id INTEGER PRIMARY KEY, "a\`b" TEXT, "returning" TEXT, é TEXT);`
  )
  const results = await db.write([
    sql('INSERT INTO odd ("a`b") VALUES (?) RETURNING "a`b" AS value', 'one'),
    sql('UPDATE odd SET é = ? RETURNING\n[id] AS value', 'two'),
    { ...sql('UPDATE odd SET "returning" = ? WHERE id = 1', ' returning '), expect: 1 },
    sql('DELETE FROM odd WHERE é IS NOT DISTINCT FROM ? RETURNING "returning" AS value', 'two')
  ])
  t.strictSame(
    results.map(({ changes, rows }) => [changes, rows.map(({ value }) => value)]),
    [
      [1, ['one']],
      [1, [1]],
      [1, []],
      [1, [' returning ']]
    ]
  )
})

t.test('a unit fails at the position of the statement, and changes nothing', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  const failures: readonly (readonly [Parameters<Database['write']>[0], string, number])[] = [
    [[insert(1), { ...sql('UPDATE t SET n = 5 WHERE n = 7'), expect: 1 }], 'UNEXPECTED_CHANGES', 1],
    [[insert(1), { ...sql('SELECT 1 FROM t'), expect: 0 }], 'UNEXPECTED_CHANGES', 1],
    [[insert(1), insert(1)], 'UNIQUE_VIOLATION', 1],
    [[insert(1), insert(100)], 'CONSTRAINT_VIOLATION', 1],
    [[sql('INSERT INTO children VALUES (1, 5)')], 'FOREIGN_KEY_VIOLATION', 0],
    [[insert(1), insert(2), sql('INSERT INTO missing VALUES (1)')], 'STRUCTURE_CHANGED', 2]
  ]
  for (const [unit, code, statement] of failures) {
    const error = await rejection(db.write(unit))
    t.match(error, { code, statement })
  }
  t.strictSame(await numbers(db), [])
  await t.rejects(db.write([sql('SELECT 1')]), /A SELECT in a unit is a check/)
})

t.test('two statements are expected to change a number of rows together', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  const unit = (both: number) => [
    sql('UPDATE t SET n = n + 1 WHERE n = 1'),
    { ...sql('INSERT INTO t (n) VALUES (50)'), expect: { both } }
  ]
  await db.write([insert(1)])
  t.match(await rejection(db.write(unit(1))), { code: 'UNEXPECTED_CHANGES', statement: 1 })
  const results = await db.write(unit(2))
  t.strictSame(
    results.map(({ changes }) => changes),
    [1, 1]
  )
  t.strictSame(await numbers(db), [2, 50])
  t.strictSame(await db.read(sql('SELECT count(*) AS count FROM _rowhouse_unit_values')), [{ count: 0 }])
})

t.test('a unit that fails leaves the others of its batch', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  const before = fake.requests.length
  const outcomes = await Promise.allSettled([insert(1), insert(2), insert(1), insert(3)].map((one) => db.write([one])))
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled']
  )
  t.strictSame(await numbers(db), [1, 2, 3])
  t.equal(fake.requests.slice(before).filter(({ path }) => path === '/db/execute').length, 2)
})

t.test('after a second failure, each unit is sent alone', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  const outcomes = await Promise.allSettled(
    [insert(1), insert(1), insert(2), insert(2), insert(3)].map((one) => db.write([one]))
  )
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']
  )
  t.strictSame(await numbers(db), [1, 2, 3])
})

t.test('a deferred foreign key fails its own unit, and is never satisfied by another one', async (t) => {
  const { db } = await startEngine(
    t,
    `CREATE TABLE parents (id INTEGER PRIMARY KEY);
     CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);`
  )
  const outcomes = await Promise.allSettled([
    db.write([sql('INSERT INTO children VALUES (1, 7)')]),
    db.write([sql('INSERT INTO parents VALUES (7)')]),
    db.write([sql('INSERT INTO children VALUES (2, 8)'), sql('INSERT INTO parents VALUES (8)')])
  ])
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled']
  )
  t.match(outcomes[0], { reason: { code: 'FOREIGN_KEY_VIOLATION', statement: undefined } })
})

t.test('an error at COMMIT fails the unit that is its cause', async (t) => {
  const { db, fake } = await startEngine(t)
  fake.execute(`CREATE TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);`)
  const outcomes = await Promise.allSettled([
    db.write([sql('INSERT INTO parents VALUES (1)')]),
    db.write([sql('INSERT INTO children VALUES (1, 7)')])
  ])
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected']
  )
})

t.test('a unit without foreign keys keeps the rows that refer to a dropped table', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  await db.write([sql('INSERT INTO parents VALUES (1)'), sql('INSERT INTO children VALUES (1, 1)')])
  const drop = (expected: number) => [
    { ...sql('SELECT 1 FROM children WHERE parent = ?', 1n), expect: expected },
    { ...sql('DELETE FROM t WHERE n = ?', "it's"), expect: 0 },
    sql('DROP TABLE parents')
  ]
  t.match(await rejection(db.write(drop(2), { foreignKeys: false })), { code: 'UNEXPECTED_CHANGES', statement: 0 })
  t.match(await rejection(db.write([sql('DROP TABLE missing')], { foreignKeys: false })), { code: 'STRUCTURE_CHANGED' })
  const results = await db.write(drop(1), { foreignKeys: false })
  t.equal(results.length, 3)
  t.strictSame(await db.read(sql('SELECT parent FROM children')), [{ parent: 1 }])
  t.match(await rejection(db.write([sql('INSERT INTO children VALUES (2, 2)')])), { code: 'STRUCTURE_CHANGED' })
})

t.test('a unit keeps views that cannot be compiled', async (t) => {
  const { db } = await startEngine(t, `${SCHEMA} CREATE VIEW broken AS SELECT missing FROM t`)
  t.ok(await rejection(db.write([sql('ALTER TABLE parents RENAME TO elders')])))
  await db.write([sql('ALTER TABLE parents RENAME TO elders')], { keepsBroken: true })
  t.strictSame(await db.read(sql("SELECT name FROM sqlite_schema WHERE name = 'elders'")), [{ name: 'elders' }])
})

t.test('units beyond a limit are refused', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  const held = fake.faults.holdRequest()
  const first = db.write([insert(1)])
  await held.arrived
  const check = { ...sql('SELECT 1 WHERE 0'), expect: 0 }
  const others = Array.from({ length: 4095 }, () => db.write([check]))
  t.match(await rejection(db.write([insert(2)])), { code: 'OVERLOADED' })
  t.match(db.counts().writes, { pending: 4096, refused: 1 })
  held.release()
  await Promise.all([first, ...others])
  await db.read(sql('SELECT 1'))
  t.match(db.counts().writes, { pending: 0, pendingSize: 0 })
})

t.test('after the close, a unit is refused, and pending ones are stored', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  const pending = db.write([insert(1)])
  await db.close()
  await pending
  t.match(await rejection(db.write([insert(2)])), { code: 'OVERLOADED' })
  t.strictSame(fake.read('SELECT n FROM t'), [{ n: 1 }])
  t.strictSame(fake.read('SELECT * FROM _rowhouse_services'), [{ id: '', batch: 1 }])
})

t.test('the error class of a check is that of the engine for a file', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  t.ok((await rejection(db.write([{ ...insert(1), expect: 2 }]))) instanceof UnexpectedChanges)
})

t.test('a unit that fails without a position is sent once', async (t) => {
  const { db, fake } = await startEngine(
    t,
    `CREATE TABLE parents (id INTEGER PRIMARY KEY);
     CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);`
  )
  const countChanges = () => fake.requests.filter(({ path }) => path === '/db/execute').length
  const before = countChanges()
  t.match(await rejection(db.write([sql('INSERT INTO children VALUES (9)')])), { code: 'FOREIGN_KEY_VIOLATION' })
  t.equal(countChanges(), before + 1)
})

t.test('a foreign key that is checked at the end of a unit fails this unit alone', async (t) => {
  const { db } = await startEngine(
    t,
    `CREATE TABLE parents (id INTEGER PRIMARY KEY);
     CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);`
  )
  const [child, parent] = [sql('INSERT INTO children VALUES (1, 5)'), sql('INSERT INTO parents VALUES (5)')]
  const [broken, whole] = await Promise.allSettled([db.write([child]), db.write([child, parent])])
  t.match(broken, { status: 'rejected', reason: { code: 'FOREIGN_KEY_VIOLATION' } })
  t.equal(whole.status, 'fulfilled')
})

t.test('the message of a trigger, and a read that fails', async (t) => {
  const { db } = await startEngine(
    t,
    `CREATE TABLE t (n INTEGER); CREATE TRIGGER small BEFORE INSERT ON t WHEN new.n > 9 BEGIN SELECT RAISE(ABORT, 'too large'); END`
  )
  t.match(await rejection(db.write([sql('INSERT INTO t VALUES (10)')])), {
    code: 'REFUSED_BY_TRIGGER',
    reported: 'too large'
  })
  await db.write([sql('INSERT INTO t VALUES (9)')])
  const [failed, read] = await Promise.allSettled([db.read(sql('SELECT * FROM gone')), db.read(sql('SELECT n FROM t'))])
  t.match(failed, { status: 'rejected', reason: { code: 'STRUCTURE_CHANGED' } })
  t.match(read, { status: 'fulfilled', value: [{ n: 9 }] })
})

t.test('the text of a row that does not exist is null', async (t) => {
  const { db } = await startEngine(t)
  t.equal(await db.readText(sql("SELECT 'a' AS text")), 'a')
  t.equal(await db.readText(sql("SELECT 'a' AS text WHERE FALSE")), null)
})

import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { createStatements } from '../../../../services/engine/shared/statements.ts'

const raw = new BetterSqlite3(':memory:')
t.teardown(() => raw.close())

t.test('a statement is cached, and returns rows or first columns', async (t) => {
  const { prepare } = createStatements(raw, 1000)
  const statement = prepare('SELECT 1 AS a')
  t.strictSame(statement.get(), { a: 1 })
  t.equal(prepare('SELECT 1 AS a', true), statement)
  t.equal(statement.get(), 1)
  t.strictSame(prepare('SELECT 1 AS a').get(), { a: 1 })
})

t.test('the cached statements have a maximum length together', async (t) => {
  const { prepare } = createStatements(raw, 1000)
  const sqlOf = (name: string, length: number) => `SELECT '${name.padEnd(length - 9)}'`
  const [first, second, long] = [sqlOf('first', 500), sqlOf('second', 500), sqlOf('long', 1001)]
  const statement = prepare(first)
  t.equal(prepare(first), statement)
  prepare(second)
  t.equal(prepare(first), statement)
  t.not(prepare(long), prepare(long))
  t.equal(prepare(first), statement, 'a statement that is too long evicts no others')
  prepare('SELECT 2')
  prepare('SELECT 3')
  t.not(prepare(second), undefined)
  t.not(prepare(first), statement)
})

t.test('statements that left the cache are freed', async (t) => {
  const { prepare, prepareOnce } = createStatements(raw, 10_000)
  const dropped: WeakRef<object>[] = []
  for (let number = 0; number < 100; number++) {
    dropped.push(new WeakRef(prepare(`SELECT ${number} AS ${'x'.repeat(1000)}`)))
    dropped.push(new WeakRef(prepareOnce(`SELECT ${number} AS ${'y'.repeat(1000)}`)))
    // A WeakRef keeps its target until the end of the tick.
    await new Promise(setImmediate)
  }
  const alive = dropped.filter((statement) => statement.deref() !== undefined)
  t.ok(alive.length <= 30, `${alive.length} of 200`)
})

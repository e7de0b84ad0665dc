import { hash } from 'node:crypto'
import t from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { openDatabase } from '../../../services/engine/loop/open.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import type { Statement } from '../../../services/sql/statement.ts'
import { temporaryDirectory } from '../../helpers.ts'
import { createTokenService } from '../token-service.ts'

const COUNT = 2500
const permissions = { tables: ['cats'], actions: ['read' as const] }
const secretOf = (n: number) => `rh_${String(n).padStart(64, '0')}`

const directory = temporaryDirectory(t)
const file = `${directory}/rowhouse.db`
const db = await openDatabase({
  file,
  dataDirectory: directory,
  cacheSize: 4,
  walSize: 16,
  isQuiet: () => true,
  beforeUpgrade: async () => {},
  onDeath: (cause) => t.fail('the writer died', { cause })
})
t.teardown(() => db.close())

const rows = Array.from({ length: COUNT }, (_, n) => [`token ${n + 1}`, hash('sha256', secretOf(n + 1))])
await db.write([
  {
    sql: `INSERT INTO _rowhouse_tokens (name, digest, token_prefix, permissions, is_active, created_at, updated_at)
      SELECT value ->> 0, value ->> 1, 'rh_********', ?, 1, 1, 1 FROM temp.json_each(?)`,
    params: [JSON.stringify(permissions), JSON.stringify(rows)]
  }
])

/** Calls `onRead` before the rows of each read are returned. */
const watched = (onRead: (statement: Statement) => unknown): Database => ({
  ...db,
  read: async (statement) => {
    const found = await db.read(statement)
    await onRead(statement)
    return found
  }
})

const newService = async (database: Database = db) => {
  const tokens = createTokenService({ db: database, clock: () => 5 })
  await tokens.load()
  return tokens
}

t.test('all tokens are loaded, in the order of their ids', async (t) => {
  const tokens = await newService()
  t.strictSame(
    tokens.list().map(({ id }) => id),
    Array.from({ length: COUNT }, (_, n) => n + 1)
  )
})

t.test('uses are saved in units of 1,000, and only those since the last flush', async (t) => {
  const units: number[] = []
  const write: Database['write'] = (unit, options) => {
    units.push(JSON.parse(String(unit[0]?.params[0])).length)
    return db.write(unit, options)
  }
  const tokens = await newService({ ...db, write })
  for (let n = 1; n <= COUNT; n += 1) tokens.authenticate(`Bearer ${secretOf(n)}`)
  await tokens.flush()
  tokens.authenticate(`Bearer ${secretOf(1)}`)
  await tokens.flush()
  t.strictSame(units, [1000, 1000, 500])
  const [row] = await db.read({ sql: 'SELECT count(*) AS n FROM _rowhouse_tokens WHERE last_used_at = 5', params: [] })
  t.equal(row?.n, COUNT)
})

t.test('changes that are acknowledged during a reload are kept', async (t) => {
  let reads = 0
  let isReloading = false
  const tokens = await newService(
    watched(async () => {
      reads += 1
      if (!isReloading || reads !== 2) return
      await tokens.change(serviceCaller, 1, { name: 'changed' })
      await tokens.revoke(serviceCaller, 2)
      await tokens.issue(serviceCaller, { name: 'issued', permissions })
    })
  )
  reads = 0
  isReloading = true
  await tokens.load()
  const names = tokens.list().map(({ name }) => name)
  t.strictSame([names[0], names[1], names.at(-1)], ['changed', 'token 3', 'issued'])
  t.equal(names.length, COUNT)
})

t.test('a token that is revoked while changed tokens are read again is refused at once', async (t) => {
  let reads = 0
  let isReloading = false
  const tokens = await newService(
    watched(async () => {
      if (!isReloading) return
      reads += 1
      if (reads === 1) await tokens.change(serviceCaller, 8, { isActive: false })
      else t.throws(() => tokens.authenticate(`Bearer ${secretOf(8)}`), { code: 'INVALID_TOKEN' })
    })
  )
  tokens.authenticate(`Bearer ${secretOf(8)}`)
  isReloading = true
  await tokens.load([8, 9])
  t.equal(reads, 2)
  t.throws(() => tokens.authenticate(`Bearer ${secretOf(8)}`), { code: 'INVALID_TOKEN' })
  tokens.authenticate(`Bearer ${secretOf(9)}`)
})

t.test('a reload keeps the tokens that have not changed, with the latest use, and replaces the others', async (t) => {
  const tokens = await newService()
  const find = (n: number) => tokens.current(tokens.authenticate(`Bearer ${secretOf(n)}`))
  const [fifth, sixth] = [find(5), find(6)]
  await db.write([
    { sql: "UPDATE _rowhouse_tokens SET name = 'other' WHERE id = 5", params: [] },
    { sql: 'UPDATE _rowhouse_tokens SET last_used_at = 9 WHERE id = 6', params: [] }
  ])
  await tokens.load()
  t.equal(tokens.read(6).last_used_at, 9)
  t.equal(find(6), sixth)
  t.not(find(5), fifth)
  t.equal(find(5).name, 'other')
})

t.test('a use during a reload is kept', async (t) => {
  let isReloading = false
  const tokens = await newService(
    watched(async () => {
      if (isReloading) tokens.authenticate(`Bearer ${secretOf(7)}`)
    })
  )
  isReloading = true
  await db.write([{ sql: 'UPDATE _rowhouse_tokens SET last_used_at = NULL', params: [] }])
  await tokens.load()
  isReloading = false
  t.equal(tokens.read(7).last_used_at, 5)
  await tokens.flush()
  const [row] = await db.read({ sql: 'SELECT last_used_at FROM _rowhouse_tokens WHERE id = 7', params: [] })
  t.equal(row?.last_used_at, 5)
})

import t, { type Test } from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { createAdminKeyService } from '../../../services/tokens/admin-keys.ts'
import { createTestClock, openTestDatabase } from '../../session-app.ts'

const start = async (t: Test) => {
  const db = await openTestDatabase(t)
  const { clock, advance } = createTestClock()
  const keys = createAdminKeyService({ db, clock })
  await keys.load()
  const issue = (expiresAt: number | null = null) =>
    keys.issue(serviceCaller, { name: 'CI', scopes: ['audit'], expiresAt })
  const stored = async (id: number) => {
    const [row] = await db.read({ sql: 'SELECT * FROM _rowhouse_admin_keys WHERE id = ?', params: [BigInt(id)] })
    return row
  }
  const run = (sql: string) => db.write([{ sql, params: [] }])
  return { db, clock, advance, keys, issue, stored, run }
}

t.test('a key is valid until it expires', async (t) => {
  const { keys, clock, advance, issue } = await start(t)
  const { key } = await issue(clock() + 1000)
  const live = keys.authenticate(key)
  advance(999)
  t.equal(keys.current(live), live)
  advance(1)
  t.throws(() => keys.authenticate(key), { code: 'INVALID_ADMIN_KEY' })
  t.throws(() => keys.current(live), { code: 'INVALID_ADMIN_KEY' })
})

t.test('uses are listed at once, and stored by a flush', async (t) => {
  const { keys, clock, advance, issue, stored } = await start(t)
  const [{ id, key }, unused] = [await issue(), await issue()]
  keys.authenticate(key)
  t.equal(keys.read(id).last_used_at, clock())
  t.equal((await stored(id))?.last_used_at, null)
  await keys.flush()
  t.equal((await stored(id))?.last_used_at, clock())
  t.equal((await stored(unused.id))?.last_used_at, null)
  advance(5)
  keys.authenticate(key)
  await keys.load()
  t.equal(keys.read(id).last_used_at, clock(), 'a use that is not stored yet survives a reload')
  await keys.flush()
  await keys.flush()
  t.equal((await stored(id))?.last_used_at, clock())
})

t.test('a flush continues if a key is revoked concurrently', async (t) => {
  const { keys, issue } = await start(t)
  const { id, key } = await issue()
  keys.authenticate(key)
  const flushed = keys.flush()
  await keys.revoke(serviceCaller, id)
  await flushed
  t.strictSame(keys.list(), [])
})

t.test('a restart keeps the keys', async (t) => {
  const { db, clock, keys, issue } = await start(t)
  const { key } = await issue()
  const again = createAdminKeyService({ db, clock })
  await again.load()
  t.strictSame(again.list(), keys.list())
  t.match(again.authenticate(key), { name: 'CI', scopes: ['audit'] })
})

t.test('a key that another program has deleted cannot be revoked', async (t) => {
  const { keys, issue, run } = await start(t)
  const { id } = await issue()
  await run('DELETE FROM _rowhouse_admin_keys')
  await t.rejects(keys.revoke(serviceCaller, id), { code: 'ADMIN_KEY_NOT_FOUND' })
  t.strictSame(keys.list(), [], 'it is evicted')
})

t.test('a failure of the database is not explained as a missing key', async (t) => {
  const { keys, issue, run } = await start(t)
  const { id } = await issue()
  await run('ALTER TABLE _rowhouse_admin_keys RENAME TO _rowhouse_elsewhere')
  await t.rejects(keys.revoke(serviceCaller, id), { code: 'STRUCTURE_CHANGED' })
  t.equal(keys.list().length, 1)
})

t.test('scopes that another program has made invalid open nothing', async (t) => {
  const { keys, issue, run } = await start(t)
  const { key } = await issue()
  for (const scopes of ['', '{', '"audit"', '{"audit": true}', 'null']) {
    await run(`UPDATE _rowhouse_admin_keys SET scopes = '${scopes}'`)
    await keys.load()
    t.strictSame(keys.authenticate(key).scopes, [], scopes)
  }
})

t.test('an id is not used twice', async (t) => {
  const { keys, issue } = await start(t)
  const { id } = await issue()
  await keys.revoke(serviceCaller, id)
  t.equal((await issue()).id, id + 1)
})

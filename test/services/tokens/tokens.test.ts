import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { openDatabase } from '../../../services/engine/loop/open.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { createTokenService } from '../token-service.ts'

const start = 1_700_000_000_000
let now = start
const clock = () => now

const directory = mkdtempSync(join(tmpdir(), 'rowhouse-tokens-'))
const file = join(directory, 'rowhouse.db')
const open = () =>
  openDatabase({
    file,
    dataDirectory: directory,
    cacheSize: 4,
    walSize: 16,
    isQuiet: () => true,
    beforeUpgrade: async () => {},
    onDeath: (cause) => t.fail('the writer died', { cause })
  })

const permissions = { tables: ['cats'], actions: ['read' as const] }
const bearer = (token: string) => `Bearer ${token}`
const invalidToken = { code: 'INVALID_TOKEN', kind: 'unauthenticated' }

let db: Database
t.before(async () => {
  db = await open()
})
t.beforeEach(() => {
  now = start
})
t.teardown(async () => {
  await db.close()
  rmSync(directory, { recursive: true })
})

const newService = async () => {
  const tokens = createTokenService({ db, clock })
  await tokens.load()
  return tokens
}

const stored = async (id: number) => {
  const [row] = await db.read({ sql: 'SELECT * FROM _rowhouse_tokens WHERE id = ?', params: [BigInt(id)] })
  return row
}

t.test('an issued token is rh_ and 64 hexadecimal digits, with the prefix that listings show', async (t) => {
  const tokens = await newService()
  const issued = await tokens.issue(serviceCaller, { name: 'Till', permissions })
  t.match(issued.token, /^rh_[0-9a-f]{64}$/)
  t.same(issued, {
    id: issued.id,
    name: 'Till',
    token: issued.token,
    tokenPrefix: `${issued.token.slice(0, 11)}********`,
    permissions
  })
})

t.test('two tokens differ even under the same name', async (t) => {
  const tokens = await newService()
  const [one, two] = await Promise.all([1, 2].map(() => tokens.issue(serviceCaller, { name: 'Twin', permissions })))
  t.not(one?.token, two?.token)
  t.not(one?.id, two?.id)
})

t.test('only the digest of a token reaches the disk', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Canary', permissions })
  const row = await stored(id)
  t.equal(row?.digest, hash('sha256', token))
  for (const path of [file, `${file}-wal`]) t.notOk(readFileSync(path).includes(token.slice(3)), path)
})

t.test('a listing has the shape of the specification and no secret', async (t) => {
  const tokens = await newService()
  const { id, token, tokenPrefix } = await tokens.issue(serviceCaller, { name: 'Listed', permissions })
  const listed = tokens.list().find((one) => one.id === id)
  t.same(listed, {
    id,
    name: 'Listed',
    token_prefix: tokenPrefix,
    permissions,
    role: null,
    claims: {},
    integers: 'auto',
    networks: [],
    previous_valid_until: null,
    is_active: true,
    expires_at: null,
    last_used_at: null,
    created_at: start,
    updated_at: start
  })
  t.notOk(JSON.stringify(tokens.list()).includes(token.slice(11)))
})

t.test('a token authenticates, whatever the case of the scheme and the number of spaces', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Good', permissions })
  for (const header of [bearer(token), `bearer ${token}`, `BEARER   ${token}`]) {
    t.equal(tokens.authenticate(header).id, id, header.slice(0, 12))
  }
})

t.test('every bad credential gives the same error', async (t) => {
  const tokens = await newService()
  const { token } = await tokens.issue(serviceCaller, { name: 'Good', permissions })
  const inactive = await tokens.issue(serviceCaller, { name: 'Inactive', permissions })
  await tokens.change(serviceCaller, inactive.id, { isActive: false })
  const expired = await tokens.issue(serviceCaller, { name: 'Expired', permissions, expiresAt: now + 1 })
  now += 1
  const headers = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    token,
    `Basic ${token}`,
    `Bearer ${token} `,
    `Bearer ${token}0`,
    `Bearer ${token.slice(0, -1)}`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer rh_${'0'.repeat(64)}`,
    bearer(inactive.token),
    bearer(expired.token)
  ]
  const messages = new Set<string>()
  for (const header of headers) {
    t.throws(() => tokens.authenticate(header), invalidToken, String(header))
    try {
      tokens.authenticate(header)
    } catch (error) {
      messages.add((error as Error).message)
    }
  }
  t.equal(messages.size, 1)
})

t.test('a token expires at the exact millisecond', async (t) => {
  const tokens = await newService()
  const { token } = await tokens.issue(serviceCaller, { name: 'Brief', permissions, expiresAt: start + 1000 })
  now = start + 999
  t.ok(tokens.authenticate(bearer(token)))
  now = start + 1000
  t.throws(() => tokens.authenticate(bearer(token)), invalidToken)
})

t.test('an expiry can be set, and null clears it', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Brief', permissions })
  await tokens.change(serviceCaller, id, { expiresAt: start })
  t.throws(() => tokens.authenticate(bearer(token)), invalidToken)
  await tokens.change(serviceCaller, id, { expiresAt: null })
  t.ok(tokens.authenticate(bearer(token)))
  t.equal((await stored(id))?.expires_at, null)
})

t.test('an issued token has the expiry of its request, which must be in the future', async (t) => {
  const tokens = await newService()
  const issue = (expiresAt: number | null) => tokens.issue(serviceCaller, { name: 'Brief', permissions, expiresAt })
  t.equal((await issue(start + 1)).expiresAt, start + 1)
  t.equal((await issue(null)).expiresAt, null)
  const count = tokens.list().length
  for (const expiresAt of [start, start - 1, 999_999_999, 0]) {
    await t.rejects(issue(expiresAt), {
      code: 'VALIDATION_FAILED',
      message: /'expiresAt' must be in the future/,
      details: [{ path: '/expiresAt', code: 'range' }]
    })
  }
  t.equal(tokens.list().length, count)
})

t.test('an expiry in seconds is refused, one in milliseconds is not', async (t) => {
  const tokens = await newService()
  const { id } = await tokens.issue(serviceCaller, { name: 'Edge', permissions })
  await tokens.change(serviceCaller, id, { expiresAt: 999_999_999 })
  await tokens.change(serviceCaller, id, { expiresAt: 100_000_000_001 })
  for (const expiresAt of [1_000_000_000, 1_700_000_000, 100_000_000_000]) {
    const refused = { code: 'VALIDATION_FAILED', details: [{ path: '/expiresAt', code: 'range' }] }
    await t.rejects(tokens.issue(serviceCaller, { name: 'Seconds', permissions, expiresAt }), refused)
    await t.rejects(tokens.change(serviceCaller, id, { expiresAt }), refused)
  }
  t.equal((await stored(id))?.expires_at, 100_000_000_001)
})

t.test('a change sets only the fields that it names, and updated_at', async (t) => {
  const tokens = await newService()
  const { id } = await tokens.issue(serviceCaller, { name: 'Before', permissions, expiresAt: start + 5 })
  await tokens.change(serviceCaller, id, { name: 'After' })
  const changed = tokens.list().find((one) => one.id === id)
  t.match(changed, { name: 'After', permissions, is_active: true, expires_at: start + 5, created_at: start })
  t.equal(changed?.updated_at, start + 1, 'also within the same millisecond')
  now = start + 50
  await tokens.change(serviceCaller, id, { isActive: false })
  t.match(
    tokens.list().find((one) => one.id === id),
    { name: 'After', is_active: false, updated_at: start + 50 }
  )
})

t.test('changed permissions apply to the next request', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Scope', permissions })
  const before = tokens.authenticate(bearer(token))
  t.ok(before.scope.allows('read', 'cats'))
  await tokens.change(serviceCaller, id, { permissions: { tables: ['dogs'], actions: ['write'] } })
  const { scope } = tokens.current(before)
  t.notOk(scope.allows('read', 'cats'))
  t.ok(scope.allows('create', 'DOGS'))
})

t.test('a revoked token is invalid at once, also for a request in flight', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Gone', permissions })
  const inFlight = tokens.authenticate(bearer(token))
  t.equal(tokens.current(inFlight), inFlight)
  await tokens.revoke(serviceCaller, id)
  t.throws(() => tokens.current(inFlight), invalidToken)
  t.throws(() => tokens.authenticate(bearer(token)), invalidToken)
  t.notOk(tokens.list().some((one) => one.id === id))
  t.equal(await stored(id), undefined)
})

t.test('1,000 concurrent revocations all take effect at once', async (t) => {
  const tokens = await newService()
  const issued = await Promise.all(
    Array.from({ length: 1000 }, (_, n) => tokens.issue(serviceCaller, { name: `n${n}`, permissions }))
  )
  const late = await Promise.all(
    issued.map(async ({ id, token }, n) => {
      tokens.authenticate(bearer(token))
      await (n % 2 === 0 ? tokens.revoke(serviceCaller, id) : tokens.change(serviceCaller, id, { isActive: false }))
      try {
        return tokens.authenticate(bearer(token)).id
      } catch {
        return null
      }
    })
  )
  t.same(
    late.filter((id) => id !== null),
    []
  )
})

t.test('an unknown token can be neither changed nor revoked', async (t) => {
  const tokens = await newService()
  const notFound = { code: 'TOKEN_NOT_FOUND', message: 'There is no token with id 999999.' }
  await t.rejects(tokens.change(serviceCaller, 999_999, { name: 'x' }), notFound)
  await t.rejects(tokens.revoke(serviceCaller, 999_999), notFound)
})

t.test('a use is listed at once and stored by the next flush', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Used', permissions })
  now = start + 7
  tokens.authenticate(bearer(token))
  t.equal(tokens.list().find((one) => one.id === id)?.last_used_at, start + 7)
  t.equal((await stored(id))?.last_used_at, null)
  await tokens.flush()
  t.match(await stored(id), { last_used_at: start + 7, updated_at: start })
})

t.test('a refused credential does not count as a use', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Late', permissions, expiresAt: start + 1 })
  now = start + 1
  t.throws(() => tokens.authenticate(bearer(token)), invalidToken)
  t.equal(tokens.list().find((one) => one.id === id)?.last_used_at, null)
})

t.test('a change and a reload keep a use that has not been saved', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Used', permissions })
  const lastUse = () => tokens.list().find((one) => one.id === id)?.last_used_at
  now = start + 7
  tokens.authenticate(bearer(token))
  await tokens.change(serviceCaller, id, { name: 'Renamed' })
  t.equal(lastUse(), start + 7)
  await tokens.load()
  t.equal(lastUse(), start + 7)
  await tokens.flush()
  t.equal((await stored(id))?.last_used_at, start + 7)
})

t.test('a token revoked while its use is being saved stays revoked', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Race', permissions })
  tokens.authenticate(bearer(token))
  await Promise.all([tokens.revoke(serviceCaller, id), tokens.flush()])
  t.notOk(tokens.list().some((one) => one.id === id))
  t.equal(await stored(id), undefined)
})

t.test('the flush after a failed one saves its uses', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Retry', permissions })
  tokens.authenticate(bearer(token))
  await db.write([{ sql: 'ALTER TABLE _rowhouse_tokens RENAME TO _rowhouse_elsewhere', params: [] }])
  await t.rejects(tokens.flush())
  await db.write([{ sql: 'ALTER TABLE _rowhouse_elsewhere RENAME TO _rowhouse_tokens', params: [] }])
  await tokens.flush()
  t.equal((await stored(id))?.last_used_at, start)
})

t.test('tokens are unchanged after a restart', async (t) => {
  const before = await newService()
  const { id, token } = await before.issue(serviceCaller, { name: 'Kept', permissions, expiresAt: start + 10 })
  await before.change(serviceCaller, id, { permissions: { tables: ['*'], actions: ['delete'] } })
  before.authenticate(bearer(token))
  await before.flush()
  await db.close()
  db = await open()
  const after = await newService()
  t.same(after.list(), before.list())
  t.ok(after.authenticate(bearer(token)).scope.allows('delete', 'anything'))
})

t.test('a token that another program has deleted is invalid after a reload', async (t) => {
  const tokens = await newService()
  const { id, token } = await tokens.issue(serviceCaller, { name: 'Deleted', permissions })
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  external.prepare('DELETE FROM _rowhouse_tokens WHERE id = ?').run(id)
  await tokens.load()
  t.throws(() => tokens.authenticate(bearer(token)), invalidToken)
})

t.test('a token that another program has deleted cannot be changed or revoked, even before a reload', async (t) => {
  const tokens = await newService()
  const issue = () => tokens.issue(serviceCaller, { name: 'Gone elsewhere', permissions })
  const [changed, revoked] = [await issue(), await issue()]
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  external.prepare('DELETE FROM _rowhouse_tokens WHERE id IN (?, ?)').run(changed.id, revoked.id)
  await t.rejects(tokens.change(serviceCaller, changed.id, { name: 'Late' }), { code: 'TOKEN_NOT_FOUND' })
  await t.rejects(tokens.revoke(serviceCaller, revoked.id), { code: 'TOKEN_NOT_FOUND' })
  for (const { token } of [changed, revoked]) t.throws(() => tokens.authenticate(bearer(token)), invalidToken)
  const rows = external.prepare("SELECT action FROM _rowhouse_audit WHERE target = 'Gone elsewhere'").pluck().all()
  t.strictSame(rows, ['token.issue', 'token.issue'])
})

t.test('a token with unreadable permissions is inactive, and all other tokens are loaded', async (t) => {
  const service = createTokenService({ db, clock })
  const [broken, ended] = [
    await service.issue(serviceCaller, { name: 'a', permissions }),
    await service.issue(serviceCaller, { name: 'b', permissions })
  ]
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  external.prepare('UPDATE _rowhouse_tokens SET is_active = 0 WHERE id = ?').run(ended.id)
  for (const text of ['{"tables":["*"]}', '{"tables":"*","actions":["read"]}', '["*"]', 'null', '{']) {
    external.prepare('UPDATE _rowhouse_tokens SET permissions = ? WHERE id = ?').run(text, broken.id)
    await service.load()
    for (const { token } of [broken, ended]) t.throws(() => service.authenticate(bearer(token)), invalidToken, text)
    t.match(
      service.list().find(({ id }) => id === broken.id),
      { is_active: false, permissions: { actions: [] } }
    )
  }
  await service.change(serviceCaller, broken.id, { permissions })
  t.match(service.authenticate(bearer(broken.token)), { id: broken.id })
})

t.test('a token with an unreadable limit or networks is inactive', async (t) => {
  const service = createTokenService({ db, clock })
  const { id, token } = await service.issue(serviceCaller, { name: 'a', permissions })
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  const invalid = [
    ...['{', '{}', '5', '[]', '{"requests":-1,"seconds":1}'].map((text) => ['rate_limit', text] as const),
    ...['{', 'null', '{}', '["10.0.0.0/"]', '[1]'].map((text) => ['networks', text] as const)
  ]
  for (const [column, text] of invalid) {
    external.prepare(`UPDATE _rowhouse_tokens SET ${column} = ? WHERE id = ?`).run(text, id)
    await service.load()
    t.throws(() => service.authenticate(bearer(token)), invalidToken, `${column} ${text}`)
    t.match(
      service.list().find((one) => one.id === id),
      { is_active: false, rate_limit: undefined, networks: [] }
    )
    external.prepare(`UPDATE _rowhouse_tokens SET ${column} = NULL WHERE id = ?`).run(id)
  }
  await service.load()
  t.equal(service.authenticate(bearer(token)).id, id)
})

import t from 'tap'
import { ADMIN_SCOPES, type AdminKey } from '../../../schemas/admin-key.ts'
import { auditSince } from '../../audit.ts'
import {
  asAdmin,
  bearer,
  client,
  dataOf,
  expectData,
  expectDone,
  expectError,
  issueKey,
  startApp,
  type TestResponse
} from '../../helpers.ts'

const KEYS = '/admin/keys'
const NOW = 1_767_225_600_000

const app = await startApp(t, { clock: () => NOW })
const admin = await asAdmin(app)

const listed = async (id: number): Promise<AdminKey | undefined> =>
  dataOf(await admin.get(KEYS)).find((key: AdminKey) => key.id === id)

t.test('POST returns the secret, and no later response does', async (t) => {
  const response = await admin.post(KEYS, { name: 'CI', scopes: ['tables:read', 'tables:write'] })
  const { id, key, keyPrefix, ...others } = dataOf(response)
  t.match(key, /^rha_[0-9a-f]{64}$/)
  t.equal(keyPrefix, `${key.slice(0, 12)}********`)
  t.strictSame(others, { name: 'CI', scopes: ['tables:read', 'tables:write'], expiresAt: null })
  t.notOk((await admin.get(KEYS)).body.includes(key))
  t.notOk((await admin.get(`${KEYS}/${id}`)).body.includes(key))
  const stored = JSON.stringify(await app.database.read({ sql: 'SELECT * FROM _rowhouse_admin_keys', params: [] }))
  t.ok(stored.includes(keyPrefix), 'the prefix is stored')
  t.notOk(stored.includes(key), 'the secret is not')
})

t.test('GET lists the keys, and reads one of them', async (t) => {
  const { id, key, keyPrefix } = await issueKey(admin, ['audit'], NOW + 1000)
  const expected = {
    id,
    name: 'script',
    key_prefix: keyPrefix,
    scopes: ['audit'],
    expires_at: NOW + 1000,
    last_used_at: null,
    created_at: NOW
  }
  t.strictSame(await listed(id), expected)
  expectData(t, await admin.get(`${KEYS}/${id}`), expected)
  dataOf(await client(app, bearer(key)).get('/admin/audit'))
  t.equal((await listed(id))?.last_used_at, NOW, 'a use is listed')
  expectError(t, await admin.get(`${KEYS}/999`), 404, 'ADMIN_KEY_NOT_FOUND')
})

t.test('DELETE revokes a key, with effect from the next request', async (t) => {
  const { id, key } = await issueKey(admin, ['tokens'])
  const script = client(app, bearer(key))
  t.equal((await script.get('/admin/tokens')).statusCode, 200)
  expectDone(t, await admin.delete(`${KEYS}/${id}`))
  expectError(t, await script.get('/admin/tokens'), 401, 'INVALID_ADMIN_KEY')
  t.equal(await listed(id), undefined)
  expectError(t, await admin.delete(`${KEYS}/${id}`), 404, 'ADMIN_KEY_NOT_FOUND')
})

t.test('POST accepts values at the limits', async (t) => {
  const accepted = [
    { name: 'x', scopes: ADMIN_SCOPES },
    { name: '🏠'.repeat(100), scopes: ['audit'], expiresAt: null },
    { name: 'soon', scopes: ['audit'], expiresAt: NOW + 1 },
    { name: 'far', scopes: ['audit'], expiresAt: Number.MAX_SAFE_INTEGER }
  ]
  for (const body of accepted) t.match(dataOf(await admin.post(KEYS, body)), body)
  const twice = { name: 'twice', scopes: ['audit', 'tokens', 'audit'] }
  t.strictSame(dataOf(await admin.post(KEYS, twice)).scopes, ['audit', 'tokens'])
})

t.test('POST refuses values beyond the limits, and issues no key', async (t) => {
  const before = dataOf(await admin.get(KEYS)).length
  const valid = { name: 'x', scopes: ['audit'] }
  const refused: (readonly [body: object, path: string])[] = [
    [{ scopes: ['audit'] }, '/name'],
    [{ name: 'x' }, '/scopes'],
    [{ ...valid, name: '' }, '/name'],
    [{ ...valid, name: 'x'.repeat(101) }, '/name'],
    [{ ...valid, scopes: [] }, '/scopes'],
    [{ ...valid, scopes: 'audit' }, '/scopes'],
    [{ ...valid, scopes: ['*'] }, '/scopes/0'],
    [{ ...valid, scopes: ['audit', 'admins'] }, '/scopes/1'],
    [{ ...valid, scopes: Array(101).fill('audit') }, '/scopes'],
    [{ ...valid, expiresAt: NOW }, '/expiresAt'],
    [{ ...valid, expiresAt: NOW / 1000 }, '/expiresAt'],
    [{ ...valid, expiresAt: String(NOW + 1) }, '/expiresAt'],
    [{ ...valid, isActive: true }, '/isActive']
  ]
  for (const [body, path] of refused) expectError(t, await admin.post(KEYS, body), 400, 'VALIDATION_FAILED', path)
  t.equal(dataOf(await admin.get(KEYS)).length, before)
})

t.test('a misspelled scope has a hint', async (t) => {
  const response = await admin.post(KEYS, { name: 'x', scopes: ['table:read'] })
  t.equal(response.json().error.hint, "Did you mean 'tables:read'?")
})

t.test('the audit has the issue and the end of a key, and names the key in its changes', async (t) => {
  const requestIdOf = (response: TestResponse) => String(response.headers['x-request-id'])
  const since = await auditSince(admin)
  const issued = await admin.post(KEYS, { name: 'CI', scopes: ['tables:write'], expiresAt: NOW + 1 })
  const { id, key, keyPrefix } = dataOf(issued)
  const byAdmin = { callerKind: 'admin', callerName: 'admin', address: '127.0.0.1' }
  t.match(await since(), [
    {
      ...byAdmin,
      requestId: requestIdOf(issued),
      action: 'key.issue',
      target: 'CI',
      targetId: null,
      summary: { keyPrefix, scopes: ['tables:write'], expiresAt: NOW + 1 }
    }
  ])
  const fields = [{ name: 'a', jsonType: 'string' }]
  const created = await client(app, bearer(key)).post('/admin/tables', { name: 'made', label: '', fields })
  t.match(await since(), [
    {
      callerKind: 'key',
      callerId: id,
      callerName: 'CI',
      address: '127.0.0.1',
      requestId: requestIdOf(created),
      action: 'table.create',
      target: 'made'
    }
  ])
  dataOf(await admin.delete(`${KEYS}/${id}`))
  t.match(await since(), [{ ...byAdmin, action: 'key.revoke', target: 'CI', targetId: id, summary: {} }])
})

import t from 'tap'
import { serviceCaller } from '../../services/model/caller.ts'
import { asAdmin, bearer, client, dataOf, importTable } from '../helpers.ts'
import { runCommand, startLocalService } from './command.ts'

t.test('a token is created, listed and revoked through the running service', async (t) => {
  const { app, options } = await startLocalService(t)
  await importTable(await asAdmin(app), 'products')
  const create = ['token', 'create', 'shop', ...options, '--tables', 'products, orders', '--actions', 'read']
  const created = await runCommand([...create, '--expires', '2099-01-31'])
  t.match(created, { code: 0, stdout: /^rh_[0-9a-f]{64}\n$/, stderr: /'orders'/ }, 'a warning names the unknown table')

  const read = () => client(app, bearer(created.stdout.trim())).get('/data/products')
  t.equal((await read()).statusCode, 200)

  const listed = await runCommand(['token', 'list', ...options])
  t.equal(listed.code, 0)
  t.match(listed.stdout.split('\n'), [
    /^ID {2}NAME {2}STATE {3}ROLE {2}TABLES {11}ACTIONS {2}EXPIRES {15}LAST USED$/,
    /^1 {3}shop {2}active {8}products,orders {2}read {5}2099-01-31T00:00:00Z {2}20\d\d-.*Z$/,
    ''
  ])
  t.notMatch(listed.stdout, created.stdout.trim())

  t.match(await runCommand(['token', 'revoke', '1', ...options]), { code: 0, stdout: 'Token 1 is revoked.\n' })
  t.equal((await read()).statusCode, 401)
})

t.test('the list shows whether a token can be used', async (t) => {
  const { app, options } = await startLocalService(t)
  const admin = await asAdmin(app)
  const permissions = { tables: ['*'], actions: ['read'] }
  for (const name of ['inactive', 'expired']) dataOf(await admin.post('/admin/tokens', { name, permissions }))
  dataOf(await admin.put('/admin/tokens/1', { isActive: false }))
  dataOf(await admin.put('/admin/tokens/2', { expiresAt: 1 }))
  t.match((await runCommand(['token', 'list', ...options])).stdout, /inactive {2}inactive[\s\S]*expired {3}expired /)
})

t.test('the list has all pages', async (t) => {
  const { app, options } = await startLocalService(t)
  const permissions = { tables: ['*'], actions: ['read' as const] }
  await Promise.all(Array.from({ length: 1001 }, () => app.tokens.issue(serviceCaller, { name: 'a', permissions })))
  const listed = JSON.parse((await runCommand(['token', 'list', ...options, '--json'])).stdout)
  t.strictSame([listed.length, listed.at(-1).id], [1001, 1001])
})

t.test('with --json, results are the data of the API, and errors its envelope', async (t) => {
  const { options } = await startLocalService(t)
  const create = ['token', 'create', 'shop', ...options, '--json', '--tables', '*', '--actions', 'read,create']
  const created = JSON.parse((await runCommand(create)).stdout)
  t.match(created, { id: 1, token: /^rh_/, permissions: { tables: ['*'], actions: ['read', 'create'] } })
  t.match(JSON.parse((await runCommand(['token', 'list', ...options, '--json'])).stdout), [{ id: 1, name: 'shop' }])
  const failed = await runCommand(['token', 'revoke', '9', ...options, '--json'])
  t.match(failed, { code: 1, stdout: '' })
  t.match(JSON.parse(failed.stderr), {
    success: false,
    error: { code: 'TOKEN_NOT_FOUND', message: /no token with id 9/ }
  })
})

t.test('an error has the code of the API, its details and its hint', async (t) => {
  const { options } = await startLocalService(t)
  const create = ['token', 'create', 'shop', ...options, '--tables', '*', '--actions', 'fly']
  const failed = await runCommand(create)
  t.match(failed, { code: 1, stdout: '', stderr: /^VALIDATION_FAILED: .permissions.actions.0. must be one of read/ })
  const wrongTime = await runCommand([...create, '--expires', 'soon'])
  t.match(wrongTime, { code: 2, stderr: "WRONG_USAGE: --expires must be a date such as 2027-01-31, not 'soon'.\n" })
})

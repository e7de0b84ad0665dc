import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Table } from '../../schemas/table.ts'
import {
  asAdmin,
  bearer,
  client,
  createTable,
  dataOf,
  expectData,
  expectError,
  logIn,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { interrupt } from '../staging-events.ts'

const app = await startApp(t)
const admin = await asAdmin(app)

/** The first step of the import stores 5,000 records. */
const ROWS = 6000
const FILE = `n\n${'1\n'.repeat(ROWS)}`

let made = 0
const newTable = () => {
  made += 1
  return createTable(admin, { name: `table_${made}`, fields: [{ name: 'n', jsonType: 'integer' }] })
}
const totalOf = async ({ id }: Table) => dataOf(await admin.get(`/admin/tables/${id}/data`)).total

const newToken = async (actions: readonly string[] = ['create', 'update']) => {
  const permissions = { tables: ['*'], actions }
  const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'importer', permissions }))
  return { url: `/admin/tokens/${id}`, csv: client(app, { ...bearer(token), 'content-type': 'text/csv' }) }
}

const expectStopped = async (t: Test, response: TestResponse, table: Table, reason: RegExp) => {
  expectError(t, response, 409, 'IMPORT_STOPPED')
  t.match(response.json().error.message, /^The import ended after 5000 of 6000 records were stored: /)
  t.match(response.json().error.message, reason)
  t.equal(await totalOf(table), 5000)
}

type Token = Awaited<ReturnType<typeof newToken>>

/** What takes the right away, and the reason in the response. */
const ENDS: Readonly<Record<string, readonly [(token: Token, table: Table) => unknown, RegExp]>> = {
  'its deletion': [({ url }) => admin.delete(url), /token/],
  'its deactivation': [({ url }) => admin.put(url, { isActive: false }), /token/],
  'a reduction of its actions': [
    ({ url }) => admin.put(url, { permissions: { tables: ['*'], actions: ['read'] } }),
    /needs the action 'create'/
  ],
  'a reduction of its tables': [
    ({ url }) => admin.put(url, { permissions: { tables: ['other'], actions: ['create'] } }),
    /do not include/
  ],
  'the unpublishing of the table': [
    (_token, { id }) => admin.put(`/admin/tables/${id}`, { isPublished: false }),
    /There is no table/
  ],
  'a table that becomes read-only': [
    (_token, { id }) => admin.put(`/admin/tables/${id}`, { isEditable: false }),
    /cannot be changed through tokens/
  ],
  'a field that is hidden': [
    (_token, { id }) => admin.put(`/admin/tables/${id}`, { fields: [{ name: 'n', isHidden: true }] }),
    /was changed/
  ]
}

for (const [cause, [end, reason]] of Object.entries(ENDS)) {
  t.test(`an import of a token ends at ${cause}`, async (t) => {
    const [token, table] = [await newToken(), await newTable()]
    interrupt(t, app, 'step', (call) => call === 1 && end(token, table))
    await expectStopped(t, await token.csv.post(`/data/${table.name}/import`, FILE), table, reason)
  })
}

t.test('an upsert ends when the token loses the action update', async (t) => {
  const [token, table] = [await newToken(), await newTable()]
  const permissions = { tables: ['*'], actions: ['create'] }
  interrupt(t, app, 'step', (call) => call === 1 && admin.put(token.url, { permissions }))
  const file = `id,n\n${Array.from({ length: ROWS }, (_, index) => `${index + 1},1\n`).join('')}`
  const response = await token.csv.post(`/data/${table.name}/import?mode=upsert`, file)
  await expectStopped(t, response, table, /needs the action 'update'/)
})

const GRANTS = [{ tables: ['*'], actions: ['read', 'create'], rows: { where: { n: { eq: { $claim: 'n' } } } } }]

/** What takes the rights of a role away, or changes them. */
const ROLE_ENDS: Readonly<Record<string, (url: string, role: string) => unknown>> = {
  'other claims': (url) => admin.put(url, { claims: { n: 2 } }),
  'another role': (url) => admin.put(url, { role: null, permissions: { tables: ['*'], actions: ['create'] } }),
  'other grants': (_url, role) => admin.put(role, { grants: [{ ...GRANTS[0], fields: { read: ['n'] } }] })
}

for (const [cause, end] of Object.entries(ROLE_ENDS)) {
  t.test(`an import of a token ends at ${cause}, and continues at another name of the role`, async (t) => {
    const role = dataOf(await admin.post('/admin/roles', { name: cause, grants: GRANTS }))
    const issued = dataOf(await admin.post('/admin/tokens', { name: 'importer', role: cause, claims: { n: 1 } }))
    const csv = client(app, { ...bearer(issued.token), 'content-type': 'text/csv' })
    const [kept, table] = [await newTable(), await newTable()]
    const roleUrl = `/admin/roles/${role.id}`
    const run = { change: () => admin.put(roleUrl, { name: `${cause} renamed` }) as unknown }
    interrupt(t, app, 'step', (call) => call === 1 && run.change())
    t.match(dataOf(await csv.post(`/data/${kept.name}/import`, FILE)), { created: ROWS })
    run.change = () => end(`/admin/tokens/${issued.id}`, roleUrl)
    await expectStopped(
      t,
      await csv.post(`/data/${table.name}/import`, FILE),
      table,
      /The role of the token, or its claims/
    )
  })
}

t.test('an import continues while the right lasts', async (t) => {
  const [token, table] = [await newToken(), await newTable()]
  const permissions = { tables: [table.name], actions: ['create'] }
  interrupt(t, app, 'step', (call) => call === 1 && admin.put(token.url, { permissions }))
  const imported = { rows: ROWS, created: ROWS, updated: 0, atomic: false, dryRun: false }
  expectData(t, await token.csv.post(`/data/${table.name}/import`, FILE), imported)
})

t.test('a logout ends an import of an administrator', async (t) => {
  const table = await newTable()
  const cookie = await logIn(app)
  const csv = client(app, { ...cookie, 'content-type': 'text/csv' })
  interrupt(t, app, 'step', (call) => call === 1 && client(app, cookie).post('/auth/logout'))
  await expectStopped(t, await csv.post(`/admin/tables/${table.id}/import`, FILE), table, /not logged in/)
})

t.test('a logout removes the half of a new table', async (t) => {
  const cookie = await logIn(app)
  const csv = client(app, { ...cookie, 'content-type': 'text/csv' })
  interrupt(t, app, 'step', (call) => call === 1 && client(app, cookie).post('/auth/logout'))
  const response = await csv.post('/admin/tables/from-file?name=half&label=', FILE)
  expectError(t, response, 409, 'IMPORT_STOPPED')
  t.match(response.json().error.message, /The table was removed\.$/)
  const tables = dataOf(await admin.get('/admin/tables'))
  t.notOk(tables.some(({ name }: Table) => name === 'half'))
})

t.test('an import that stores records continues without its client', async (t) => {
  const [token, table] = [await newToken(), await newTable()]
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sent = request({ port, method: 'POST', path: `/data/${table.name}/import`, headers: token.csv.headers })
  sent.on('error', () => {})
  let isGone = false
  app.server.once('connection', (socket) =>
    socket.once('close', () => {
      isGone = true
    })
  )
  interrupt(t, app, 'step', async (call) => {
    if (call !== 1) return
    sent.destroy()
    while (!isGone) await wait(5)
  })
  sent.end(FILE)
  while ((await totalOf(table)) < ROWS) await wait(10)
  t.equal(await totalOf(table), ROWS)
})

import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { type Action, actions } from '../../../schemas/token.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { bearer } from '../../helpers.ts'
import { createTable, issue, startTokenApp, type TokenApp } from '../../token-app.ts'

const lines: string[] = []
let now = Date.now()
let app: TokenApp
let file: string

const findTable = (name: string) => app.tables.get(app.tables.find(name)?.id ?? 0)

t.before(async () => {
  const started = await startTokenApp(t, { clock: () => now, onLog: (line) => lines.push(line), flushInterval: 5 })
  app = started.app
  file = started.file
  const flags = {
    cats: { isEditable: true },
    hidden: { isPublished: false },
    frozen: { isEditable: false },
    vault: { isPublished: false, isEditable: false }
  }
  for (const [name, changes] of Object.entries(flags)) {
    const { id } = await createTable(app, name)
    await app.tables.update(serviceCaller, id, changes)
    await app.records.create(serviceCaller, app.views.administratorView(findTable(name)), { name: 'Tom', lives: 9 })
  }
})

const call = (token: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: object) =>
  app.inject({ method, url: `/data${path}`, headers: bearer(token), ...(payload && { payload }) })

let fields = 0

/** Everything that a token can do to a table, by what it needs. */
const reads = {
  list: (token: string, table: string) => call(token, 'GET', `/${table}`),
  schema: (token: string, table: string) => call(token, 'GET', `/${table}/schema`),
  readOne: (token: string, table: string) => call(token, 'GET', `/${table}/records/1`)
}
const writes = {
  create: (token: string, table: string) => call(token, 'POST', `/${table}/records`, { name: 'Tim' }),
  update: (token: string, table: string) => call(token, 'PUT', `/${table}/records/1`, { name: 'Ted' }),
  increment: (token: string, table: string) =>
    call(token, 'POST', `/${table}/incr`, { pk: '1', field: 'lives', count: 1 }),
  delete: async (token: string, table: string) => {
    const created = await app.records.create(serviceCaller, app.views.administratorView(findTable('cats')), {})
    return call(token, 'DELETE', `/${table}/records/${JSON.parse(created).id}`)
  },
  addField: (token: string, table: string) =>
    call(token, 'POST', `/_schema/tables/${table}/fields`, { field: { name: `f${++fields}`, jsonType: 'string' } })
}
const calls = { ...reads, ...writes }

const createTableBy = (token: string, name: string) =>
  call(token, 'POST', '/_schema/tables', { name, label: '', fields: [{ name: 'a', jsonType: 'string' }] })

const until = async (isTrue: () => boolean | Promise<boolean>) => {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve))
}

t.test('every bad credential gets the same 401, with a challenge', async (t) => {
  const expired = await issue(app, { tables: ['*'], actions: ['read'] }, now)
  const headers = [
    {},
    { authorization: 'Bearer nonsense' },
    { authorization: 'Basic cm9vdDpyb290' },
    { cookie: 'rowhouse_session=anything' },
    bearer(expired.token)
  ]
  for (const one of headers) {
    const res = await app.inject({ url: '/data/cats', headers: one })
    t.equal(res.statusCode, 401)
    t.equal(res.headers['www-authenticate'], 'Bearer')
    t.match(res.json(), {
      success: false,
      error: {
        code: 'INVALID_TOKEN',
        message: 'The bearer token is missing, malformed, unknown, inactive or expired.'
      }
    })
  }
})

t.test('a good token gets through, whatever the case of the table name', async (t) => {
  const { token } = await issue(app, { tables: ['CATS'], actions: ['read'] })
  for (const name of ['cats', 'Cats', 'cAtS']) {
    const res = await calls.list(token, name)
    t.equal(res.statusCode, 200)
    t.equal(res.headers['www-authenticate'], undefined)
    t.match(res.json(), { success: true, data: { total: 1 } })
  }
})

t.test('each action opens exactly its calls', async (t) => {
  const opens: Record<Action, readonly string[]> = {
    read: ['list', 'schema', 'readOne'],
    write: ['create', 'update', 'increment', 'delete', 'addField'],
    create: ['create'],
    update: ['update', 'increment'],
    delete: ['delete'],
    schema: ['addField']
  }
  for (const action of actions) {
    const { token } = await issue(app, { tables: ['cats'], actions: [action] })
    for (const [name, send] of Object.entries(calls)) {
      const res = await send(token, 'cats')
      t.equal(res.statusCode, opens[action].includes(name) ? 200 : 403, `${action} for ${name}`)
    }
  }
})

t.test('a missing action gets 403 and hears what is needed', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read'] })
  const res = await calls.create(token, 'cats')
  t.equal(res.statusCode, 403)
  t.match(res.json(), {
    success: false,
    error: {
      code: 'ACTION_NOT_ALLOWED',
      message: "The token needs the action 'create' (or 'write') on the table 'cats'."
    }
  })
})

t.test('empty lists of a token open nothing', async (t) => {
  for (const permissions of [
    { tables: [], actions: [...actions] },
    { tables: ['*'], actions: [] }
  ]) {
    const { token } = await issue(app, permissions)
    for (const [name, send] of Object.entries(calls)) {
      const res = await send(token, 'cats')
      t.equal(res.statusCode, 403, name)
      t.match(res.json(), { error: { code: 'ACTION_NOT_ALLOWED' } })
    }
  }
})

t.test('out of scope, existing, missing and hidden tables get the same 403', async (t) => {
  const { token } = await issue(app, { tables: ['dogs'], actions: ['read'] })
  for (const name of ['cats', 'nope', 'hidden', 'frozen', '_rowhouse_tokens', 'sqlite_schema']) {
    const res = await calls.list(token, name)
    const { requestId, ...error } = res.json().error
    t.equal(res.statusCode, 403)
    t.same(error, {
      code: 'ACTION_NOT_ALLOWED',
      message: `The token's tables do not include the table '${name}'.`,
      hint: 'An administrator can change the permissions: PUT /admin/tokens/:id.'
    })
  }
})

t.test('in scope, an unpublished table is missing exactly like one that is not there', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read', 'write'] })
  for (const table of ['nope', 'hidden', 'vault', '_ROWHOUSE_TOKENS']) {
    for (const [name, send] of Object.entries(calls)) {
      const res = await send(token, table)
      t.equal(res.statusCode, 404, `${name} of ${table}`)
      t.match(res.json(), { error: { code: 'TABLE_NOT_FOUND', message: `There is no table '${table}'.` } })
    }
  }
})

t.test('a table that is not editable can be read but not written', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read', 'write'] })
  for (const [name, send] of Object.entries(reads)) t.equal((await send(token, 'frozen')).statusCode, 200, name)
  for (const [name, send] of Object.entries(writes)) {
    const res = await send(token, 'frozen')
    t.equal(res.statusCode, 403, name)
    t.match(res.json(), { success: false, error: { code: 'TABLE_READ_ONLY' } })
  }
})

t.test('who may not send a body is told so before it is read', async (t) => {
  const everything = await issue(app, { tables: ['*'], actions: ['read', 'write'] })
  const readOnly = await issue(app, { tables: ['*'], actions: ['read'] })
  const send = (token: string, method: 'POST' | 'PUT' | 'DELETE', path: string) =>
    app.inject({
      method,
      url: `/data${path}`,
      headers: { ...bearer(token), 'content-type': 'application/json' },
      payload: '{"cut short'
    })
  for (const [method, path] of [
    ['POST', '/records'],
    ['PUT', '/records/1'],
    ['DELETE', '/records/1'],
    ['POST', '/incr']
  ] as const) {
    t.match((await send(readOnly.token, method, `/cats${path}`)).json(), { error: { code: 'ACTION_NOT_ALLOWED' } })
    t.match((await send(everything.token, method, `/cats${path}`)).json(), { error: { code: 'MALFORMED_JSON' } })
  }
  for (const path of ['/_schema/tables', '/_schema/tables/cats/fields']) {
    t.match((await send(readOnly.token, 'POST', path)).json(), { error: { code: 'ACTION_NOT_ALLOWED' } }, path)
    t.match((await send(everything.token, 'POST', path)).json(), { error: { code: 'MALFORMED_JSON' } }, path)
  }
})

t.test('a new table has to be in scope by the name in the body, and need not exist', async (t) => {
  const { token } = await issue(app, { tables: ['Birds'], actions: ['schema'] })
  t.equal((await createTableBy(token, 'birds')).statusCode, 200)
  for (const name of ['dogs', 'cats']) {
    const res = await createTableBy(token, name)
    t.equal(res.statusCode, 403)
    t.match(res.json(), {
      error: {
        code: 'ACTION_NOT_ALLOWED',
        message: `The token's tables do not include the table '${name}'.`
      }
    })
  }
  t.equal(app.tables.find('dogs'), undefined, 'the refused table was not made')
})

/** Sends the head of a request and half its body; `finish` sends the rest and gives the answer. */
const slowCall = async (token: string) => {
  const { port } = app.server.address() as AddressInfo
  const outgoing = httpRequest({
    port,
    method: 'POST',
    path: '/data/cats/records',
    headers: { ...bearer(token), 'content-type': 'application/json', 'content-length': 2 }
  })
  const answered = once(outgoing, 'response')
  outgoing.write('{')
  const before = now
  const isUsed = () => app.tokens.list().some((one) => one.last_used_at === before)
  await until(isUsed)
  return async () => {
    outgoing.end('}')
    const [response] = await answered
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) }
  }
}

t.test('a slow body does not outlive', async (t) => {
  await app.listen({ port: 0 })
  const fresh = async () => {
    now += 1000
    return issue(app, { tables: ['*'], actions: ['write'] }, now + 100)
  }

  t.test('nothing, when nothing changes', async (t) => {
    const { token } = await fresh()
    const finish = await slowCall(token)
    t.match(await finish(), { status: 200, body: { success: true } })
  })

  t.test('the revocation of its token', async (t) => {
    const { id, token } = await fresh()
    const finish = await slowCall(token)
    await app.tokens.revoke(serviceCaller, id)
    t.match(await finish(), {
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      body: { error: { code: 'INVALID_TOKEN' } }
    })
  })

  t.test('its expiry', async (t) => {
    const { token } = await fresh()
    const finish = await slowCall(token)
    now += 100
    t.match(await finish(), { status: 401, body: { error: { code: 'INVALID_TOKEN' } } })
  })

  t.test('a change of its permissions', async (t) => {
    const { id, token } = await fresh()
    const finish = await slowCall(token)
    await app.tokens.change(serviceCaller, id, { permissions: { tables: ['*'], actions: ['read'] } })
    t.match(await finish(), { status: 403, body: { error: { code: 'ACTION_NOT_ALLOWED' } } })
  })

  t.test('the freezing of its table', async (t) => {
    const { token } = await fresh()
    const finish = await slowCall(token)
    const { id } = findTable('cats')
    await app.tables.update(serviceCaller, id, { isEditable: false })
    t.match(await finish(), { status: 403, body: { error: { code: 'TABLE_READ_ONLY' } } })
    await app.tables.update(serviceCaller, id, { isEditable: true })
  })
})

t.test('a handler that asks for what no hook established fails, and closed', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read'] })
  for (const url of ['/without-token', '/without-table']) {
    const res = await app.inject({ url, headers: bearer(token) })
    t.equal(res.statusCode, 500)
    t.match(res.json(), { success: false, error: { code: 'INTERNAL_ERROR' } })
  }
})

const lastUse = async (id: number) => {
  const [row] = await app.database.read({
    sql: 'SELECT last_used_at FROM _rowhouse_tokens WHERE id = ?',
    params: [BigInt(id)]
  })
  return row?.last_used_at
}

t.test('uses reach the disk in the background', async (t) => {
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  await calls.list(token, 'cats')
  await until(async () => (await lastUse(id)) !== null)
  t.equal(await lastUse(id), now)
})

t.test('what another program changes is known without a restart, and faults on the way end nothing', async (t) => {
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  const expectData = async (status: number) => (await calls.list(token, 'cats')).statusCode === status

  lines.length = 0
  other.exec('ALTER TABLE _rowhouse_tokens RENAME TO _rowhouse_elsewhere')
  await until(() => lines.some((line) => line.includes('could not be read anew')))
  now += 1
  await calls.list(token, 'cats')
  await until(() => lines.some((line) => line.includes('could not be saved')))
  t.ok(await expectData(200), 'what is in memory goes on serving')

  other.exec('ALTER TABLE _rowhouse_elsewhere RENAME TO _rowhouse_tokens')
  other.prepare('UPDATE _rowhouse_tokens SET is_active = 0 WHERE id = ?').run(id)
  await until(() => expectData(401))
  await until(async () => (await lastUse(id)) === now)
})

t.test('a failed reload is tried again without another commit', async (t) => {
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  lines.length = 0
  other.exec('ALTER TABLE _rowhouse_tokens RENAME TO _rowhouse_elsewhere')
  await until(() => lines.some((line) => line.includes('could not be read anew')))
  // Renamed back by our own writer, so that nothing foreign announces it.
  await app.database.write([{ sql: 'ALTER TABLE _rowhouse_elsewhere RENAME TO _rowhouse_tokens', params: [] }])
  await app.database.write([{ sql: 'DELETE FROM _rowhouse_tokens', params: [] }])
  await until(() => app.tokens.list().length === 0)
})

t.test('closing saves the last uses', async (t) => {
  const { app, file } = await startTokenApp(t, { clock: () => now })
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  await app.inject({ url: '/data/_me', headers: bearer(token) })
  await app.close()
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  t.equal(other.prepare('SELECT last_used_at FROM _rowhouse_tokens WHERE id = ?').pluck().get(id), now)
})

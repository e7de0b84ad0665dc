import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import BetterSqlite3 from 'better-sqlite3'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { type Action, actions } from '../../../schemas/token-action.ts'
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
    await app.records.create(serviceCaller, app.accessOf(serviceCaller, findTable(name), []), { name: 'Tom', lives: 9 })
  }
})

const call = (token: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: object) =>
  app.inject({ method, url: `/data${path}`, headers: bearer(token), ...(payload && { payload }) })

let fields = 0

/** All requests that a token can send for a table. */
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
    const created = await app.records.create(serviceCaller, app.accessOf(serviceCaller, findTable('cats'), []), {})
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
  const expired = await issue(app, { tables: ['*'], actions: ['read'] }, now + 1)
  now += 1
  const headers = [
    {},
    { authorization: 'Bearer nonsense' },
    { authorization: 'Basic cm9vdDpyb290' },
    { cookie: 'rowhouse_session=anything' },
    bearer(expired.token)
  ]
  for (const one of headers) {
    const response = await app.inject({ url: '/data/cats', headers: one })
    t.equal(response.statusCode, 401)
    t.equal(response.headers['www-authenticate'], 'Bearer')
    t.match(response.json(), {
      success: false,
      error: {
        code: 'INVALID_TOKEN',
        message:
          'The bearer token is missing, malformed, unknown, inactive, expired, or not accepted from this address.'
      }
    })
  }
})

t.test('a valid token is accepted, whatever the case of the table name', async (t) => {
  const { token } = await issue(app, { tables: ['CATS'], actions: ['read'] })
  for (const name of ['cats', 'Cats', 'cAtS']) {
    const response = await calls.list(token, name)
    t.equal(response.statusCode, 200)
    t.equal(response.headers['www-authenticate'], undefined)
    t.match(response.json(), { success: true, data: { total: 1 } })
  }
})

t.test('each action allows exactly its requests', async (t) => {
  const allowed: Record<Action, readonly string[]> = {
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
      const response = await send(token, 'cats')
      t.equal(response.statusCode, allowed[action].includes(name) ? 200 : 403, `${action} for ${name}`)
    }
  }
})

t.test('a token without the action gets 403, and the message names the action', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read'] })
  const response = await calls.create(token, 'cats')
  t.equal(response.statusCode, 403)
  t.match(response.json(), {
    success: false,
    error: {
      code: 'ACTION_NOT_ALLOWED',
      message: "The token needs the action 'create' (or 'write') on the table 'cats'."
    }
  })
})

t.test('a token with an empty list of tables or actions may do nothing', async (t) => {
  for (const permissions of [
    { tables: [], actions: [...actions] },
    { tables: ['*'], actions: [] }
  ]) {
    const { token } = await issue(app, permissions)
    for (const [name, send] of Object.entries(calls)) {
      const response = await send(token, 'cats')
      t.equal(response.statusCode, 403, name)
      t.match(response.json(), { error: { code: 'ACTION_NOT_ALLOWED' } })
    }
  }
})

t.test('existing, missing and hidden tables out of scope get the same 403', async (t) => {
  const { token } = await issue(app, { tables: ['dogs'], actions: ['read'] })
  for (const name of ['cats', 'nope', 'hidden', 'frozen', '_rowhouse_tokens', 'sqlite_schema']) {
    const response = await calls.list(token, name)
    const { requestId, ...error } = response.json().error
    t.equal(response.statusCode, 403)
    t.same(error, {
      code: 'ACTION_NOT_ALLOWED',
      message: `The token's tables do not include the table '${name}'.`,
      hint: 'An administrator can change the permissions: PUT /admin/tokens/:id.'
    })
  }
})

t.test('an unpublished table in scope gets the same 404 as a missing one', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read', 'write'] })
  for (const table of ['nope', 'hidden', 'vault', '_ROWHOUSE_TOKENS']) {
    for (const [name, send] of Object.entries(calls)) {
      const response = await send(token, table)
      t.equal(response.statusCode, 404, `${name} of ${table}`)
      t.match(response.json(), { error: { code: 'TABLE_NOT_FOUND', message: `There is no table '${table}'.` } })
    }
  }
})

t.test('a table that is not editable can be read but not written', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read', 'write'] })
  for (const [name, send] of Object.entries(reads)) t.equal((await send(token, 'frozen')).statusCode, 200, name)
  for (const [name, send] of Object.entries(writes)) {
    const response = await send(token, 'frozen')
    t.equal(response.statusCode, 403, name)
    t.match(response.json(), { success: false, error: { code: 'TABLE_READ_ONLY' } })
  }
})

t.test('a token without the right is refused before the body is read', async (t) => {
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

t.test('a new table must be in scope by the name in the body', async (t) => {
  const { token } = await issue(app, { tables: ['Birds'], actions: ['schema'] })
  t.equal((await createTableBy(token, 'birds')).statusCode, 200)
  for (const name of ['dogs', 'cats']) {
    const response = await createTableBy(token, name)
    t.equal(response.statusCode, 403)
    t.match(response.json(), {
      error: {
        code: 'ACTION_NOT_ALLOWED',
        message: `The token's tables do not include the table '${name}'.`
      }
    })
  }
  t.equal(app.tables.find('dogs'), undefined, 'the refused table was not created')
})

/** Sends the head and half the body of a request. Returns a function that sends the rest and returns the response. */
const startSlowRequest = async (token: string) => {
  const { port } = app.server.address() as AddressInfo
  const outgoing = httpRequest({
    port,
    method: 'POST',
    path: '/data/cats/records',
    headers: { ...bearer(token), 'content-type': 'application/json', 'content-length': 2 }
  })
  const responded = once(outgoing, 'response')
  outgoing.write('{')
  const before = now
  const isUsed = () => app.tokens.list().some((one) => one.last_used_at === before)
  await until(isUsed)
  return async () => {
    outgoing.end('}')
    const [response] = await responded
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) }
  }
}

t.test('a request with a slow body', async (t) => {
  await app.listen({ port: 0 })
  const issueFresh = async () => {
    now += 1000
    return issue(app, { tables: ['*'], actions: ['write'] }, now + 100)
  }

  t.test('succeeds if nothing changes', async (t) => {
    const { token } = await issueFresh()
    const finish = await startSlowRequest(token)
    t.match(await finish(), { status: 200, body: { success: true } })
  })

  t.test('fails if its token is revoked', async (t) => {
    const { id, token } = await issueFresh()
    const finish = await startSlowRequest(token)
    await app.tokens.revoke(serviceCaller, id)
    t.match(await finish(), {
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      body: { error: { code: 'INVALID_TOKEN' } }
    })
  })

  t.test('fails if its token expires', async (t) => {
    const { token } = await issueFresh()
    const finish = await startSlowRequest(token)
    now += 100
    t.match(await finish(), { status: 401, body: { error: { code: 'INVALID_TOKEN' } } })
  })

  t.test('fails if the permissions of its token change', async (t) => {
    const { id, token } = await issueFresh()
    const finish = await startSlowRequest(token)
    await app.tokens.change(serviceCaller, id, { permissions: { tables: ['*'], actions: ['read'] } })
    t.match(await finish(), { status: 403, body: { error: { code: 'ACTION_NOT_ALLOWED' } } })
  })

  t.test('fails if its table becomes read-only', async (t) => {
    const { token } = await issueFresh()
    const finish = await startSlowRequest(token)
    const { id } = findTable('cats')
    await app.tables.update(serviceCaller, id, { isEditable: false })
    t.match(await finish(), { status: 403, body: { error: { code: 'TABLE_READ_ONLY' } } })
    await app.tables.update(serviceCaller, id, { isEditable: true })
  })
})

t.test('a handler that uses the token or the table without their hooks fails with 500', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read'] })
  for (const url of ['/without-key', '/without-table']) {
    const response = await app.inject({ url, headers: bearer(token) })
    t.equal(response.statusCode, 500)
    t.match(response.json(), { success: false, error: { code: 'INTERNAL_ERROR' } })
  }
})

const lastUse = async (id: number) => {
  const [row] = await app.database.read({
    sql: 'SELECT last_used_at FROM _rowhouse_tokens WHERE id = ?',
    params: [BigInt(id)]
  })
  return row?.last_used_at
}

t.test('uses are saved in the background', async (t) => {
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  await calls.list(token, 'cats')
  await until(async () => (await lastUse(id)) !== null)
  t.equal(await lastUse(id), now)
})

t.test('a token that another program changes is reloaded, and a failed reload or flush stops nothing', async (t) => {
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  const respondsWith = async (status: number) => (await calls.list(token, 'cats')).statusCode === status

  lines.length = 0
  external.exec('ALTER TABLE _rowhouse_tokens RENAME TO _rowhouse_renamed')
  await until(() => lines.some((line) => line.includes('could not be reloaded')))
  now += 1
  await calls.list(token, 'cats')
  await until(() => lines.some((line) => line.includes('could not be saved')))
  t.ok(await respondsWith(200), 'requests are served from the cache')

  external.exec('ALTER TABLE _rowhouse_renamed RENAME TO _rowhouse_tokens')
  external.prepare('UPDATE _rowhouse_tokens SET is_active = 0 WHERE id = ?').run(id)
  await until(() => respondsWith(401))
  await until(async () => (await lastUse(id)) === now)
})

t.test('a failed reload is retried without another external commit', async (t) => {
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  lines.length = 0
  external.exec('ALTER TABLE _rowhouse_tokens RENAME TO _rowhouse_renamed')
  await until(() => lines.some((line) => line.includes('could not be reloaded')))
  // Our own writer renames it back: no external commit causes a reload.
  await app.database.write([{ sql: 'ALTER TABLE _rowhouse_renamed RENAME TO _rowhouse_tokens', params: [] }])
  await app.database.write([{ sql: 'DELETE FROM _rowhouse_tokens', params: [] }])
  await until(() => app.tokens.list().length === 0)
})

t.test('the caller of a token', async (t) => {
  const { app } = await startTokenApp(t, { clock: () => now })
  const { id } = await createTable(app, 'cats')
  const setHidden = (isHidden: boolean) =>
    app.tables.update(serviceCaller, id, { fields: [{ name: 'lives', isHidden }] })
  await app.register(async (area) => {
    area.addHook('onRoute', area.requireAction)
    area.addHook('onRequest', area.authenticateToken)
    area.get('/:table/caller', { config: { action: 'read' } }, async ({ caller }) => {
      await caller.confirm()
      const { kind, id, name, requestId, address } = caller
      return { kind, id, name, requestId, address }
    })
    area.get('/:table/early', { config: { action: 'none' } }, async ({ caller }) => {
      await caller.confirm()
      await app.tokens.revoke(serviceCaller, caller.id)
      await caller.confirm()
    })
    area.get('/:table/hide', { config: { action: 'read' } }, async ({ caller }) => {
      await setHidden(true)
      await caller.confirm()
    })
    area.get('/:table/index', { config: { action: 'read' } }, async ({ caller, table }) => {
      await app.tables.createIndex(serviceCaller, table.id, { fields: ['name'] })
      await caller.confirm()
    })
    area.get('/:table/revoke', { config: { action: 'read' } }, async ({ caller }) => {
      await app.tokens.revoke(serviceCaller, caller.id)
      await caller.confirm()
    })
    area.get('/:table/disconnect', { config: { action: 'read' } }, async ({ caller, socket }) => {
      Object.defineProperty(socket, 'destroyed', { value: true })
      await caller.confirm()
    })
  })
  const issued = await issue(app, { tables: ['cats'], actions: ['read'] })
  const get = (path: string) => app.inject({ url: `/cats/${path}`, headers: bearer(issued.token) })

  t.test('has the id and name of the token, and the address of the client', async (t) => {
    const response = await get('caller')
    t.equal(response.statusCode, 200)
    t.match(response.json(), { kind: 'token', id: issued.id, name: 'read', requestId: /^req-/, address: '127.0.0.1' })
  })

  t.test('loses its right if a field of the table becomes hidden', async (t) => {
    const response = await get('hide')
    t.equal(response.statusCode, 409)
    t.match(response.json(), { error: { code: 'TABLE_CHANGED', message: /'cats' was changed during the request/ } })
    await setHidden(false)
  })

  t.test('keeps its right if the table gets an index', async (t) => {
    t.equal((await get('index')).statusCode, 200)
  })

  t.test('loses its right if the client disconnects', async (t) => {
    const response = await get('disconnect')
    t.match(response.json(), { error: { code: 'OVERLOADED', message: 'The client has disconnected.' } })
  })

  t.test('is known before the action is checked, and loses its right if the token is revoked', async (t) => {
    const other = await issue(app, { tables: [], actions: [] })
    const response = await app.inject({ url: '/cats/early', headers: bearer(other.token) })
    t.equal(response.statusCode, 401)
    t.match(response.json(), { error: { code: 'INVALID_TOKEN' } })
    t.notOk(app.tokens.list().some(({ id }) => id === other.id))
  })

  t.test('loses its right if the token is revoked', async (t) => {
    const response = await get('revoke')
    t.equal(response.statusCode, 401)
    t.match(response.json(), { error: { code: 'INVALID_TOKEN' } })
  })
})

t.test('a route without an action stops the start', async (t) => {
  const { app } = await startTokenApp(t)
  const started = app.register(async (area) => {
    area.addHook('onRoute', area.requireAction)
    area.get('/cats', async () => 'ok')
  })
  await t.rejects(async () => void (await started), { message: 'GET /cats must declare config.action.' })
})

t.test('a route keeps its own hooks, which run after the checks', async (t) => {
  const { app } = await startTokenApp(t)
  await createTable(app, 'cats')
  const { token } = await issue(app, { tables: ['cats'], actions: ['update'] })
  const calls: string[] = []
  const hook = (name: string) => async (request: FastifyRequest) => {
    calls.push(`${name} ${request.key.name}`)
  }
  await app.register(async (area) => {
    area.addHook('onRoute', area.requireAction)
    area.addHook('onRequest', area.authenticateToken)
    const config = { action: 'update' } as const
    area.put('/own/:table', { config, onRequest: hook('onRequest'), preHandler: hook('preHandler') }, async () => 'ok')
  })
  const put = (table: string) =>
    app.inject({ method: 'PUT', url: `/own/${table}`, headers: bearer(token), payload: {} })
  t.equal((await put('dogs')).statusCode, 403)
  t.strictSame(calls, [])
  t.equal((await put('cats')).statusCode, 200)
  t.strictSame(calls, ['onRequest update', 'preHandler update'])
})

t.test('closing saves the last uses', async (t) => {
  const { app, file } = await startTokenApp(t, { clock: () => now })
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  await app.inject({ url: '/data/_me', headers: bearer(token) })
  await app.close()
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  t.equal(external.prepare('SELECT last_used_at FROM _rowhouse_tokens WHERE id = ?').pluck().get(id), now)
})

import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { type Action, actions } from '../../schemas/token.ts'
import { bearer, issue, registered, startTokenApp, type TokenApp } from '../token-app.ts'

const lines: string[] = []
let now = Date.now()
let app: TokenApp
let file: string
let tables: Awaited<ReturnType<typeof startTokenApp>>['tables']

t.before(async () => {
  const started = await startTokenApp(t, {
    clock: () => now,
    onLog: (line) => lines.push(line),
    flushInterval: 5,
    tables: [
      registered(1, 'cats'),
      registered(2, 'hidden', { isPublished: false }),
      registered(3, 'frozen', { isEditable: false }),
      registered(4, 'vault', { isPublished: false, isEditable: false })
    ]
  })
  app = started.app
  file = started.file
  tables = started.tables
})

const call = (token: string, url: string, payload: object = {}) =>
  app.inject({ method: 'POST', url: `/data${url}`, headers: bearer(token), payload })

const until = async (isTrue: () => boolean | Promise<boolean>) => {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve))
}

const newTable = (name: string) => ({ name, label: '', fields: [{ name: 'a', jsonType: 'string' }] })

t.test('every bad credential gets the same 401, with a challenge', async (t) => {
  const expired = await issue(app, { tables: ['*'], actions: ['read'] }, now)
  const headers = [
    {},
    { authorization: 'Bearer nonsense' },
    { authorization: 'Basic cm9vdDpyb290' },
    { cookie: 'session=anything' },
    bearer(expired.token)
  ]
  for (const one of headers) {
    const res = await app.inject({ method: 'POST', url: '/data/cats/read', headers: one })
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

t.test('a good token gets through, and the handler has token and table', async (t) => {
  const { token } = await issue(app, { tables: ['cats'], actions: ['read'] })
  const res = await call(token, '/cats/read')
  t.equal(res.statusCode, 200)
  t.equal(res.headers['www-authenticate'], undefined)
  t.same(res.json(), { success: true, data: { token: 'read', table: 'cats' } })
})

t.test('each action opens exactly its calls', async (t) => {
  const calls: readonly (readonly [needed: string, url: string, body?: object])[] = [
    ['read', '/cats/read'],
    ['create', '/cats/create'],
    ['update', '/cats/update'],
    ['delete', '/cats/delete'],
    ['schema', '/_schema/tables', newTable('cats')]
  ]
  const opens: Record<Action, readonly string[]> = {
    read: ['read'],
    write: ['create', 'update', 'delete', 'schema'],
    create: ['create'],
    update: ['update'],
    delete: ['delete'],
    schema: ['schema']
  }
  for (const action of actions) {
    const { token } = await issue(app, { tables: ['cats'], actions: [action] })
    for (const [needed, url, body] of calls) {
      const res = await call(token, url, body)
      t.equal(res.statusCode, opens[action].includes(needed) ? 200 : 403, `${action} for ${needed}`)
    }
  }
})

t.test('a missing action gets 403 and hears what is needed', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read'] })
  const res = await call(token, '/cats/create')
  t.equal(res.statusCode, 403)
  t.match(res.json(), {
    success: false,
    error: {
      code: 'ACTION_NOT_ALLOWED',
      message: "The token needs the action 'create' (or 'write') on the table 'cats'."
    }
  })
})

t.test('out of scope, existing, missing and hidden tables get the same 403', async (t) => {
  const { token } = await issue(app, { tables: ['dogs'], actions: ['read'] })
  for (const name of ['cats', 'nope', 'hidden', 'frozen']) {
    const res = await call(token, `/${name}/read`)
    const { requestId, ...error } = res.json().error
    t.equal(res.statusCode, 403)
    t.same(error, {
      code: 'ACTION_NOT_ALLOWED',
      message: `The token needs the action 'read' on the table '${name}'.`,
      hint: 'An administrator can change the permissions: PUT /admin/tokens/:id.'
    })
  }
})

t.test('in scope, an unpublished table is missing exactly like one that is not there', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read', 'write'] })
  for (const name of ['nope', 'hidden', 'vault']) {
    for (const action of ['read', 'create']) {
      const res = await call(token, `/${name}/${action}`)
      t.equal(res.statusCode, 404)
      t.match(res.json(), { error: { code: 'TABLE_NOT_FOUND', message: `There is no table '${name}'.` } })
    }
  }
})

t.test('a table that is not editable can be read but not written', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read', 'write'] })
  t.equal((await call(token, '/frozen/read')).statusCode, 200)
  for (const action of ['create', 'update', 'delete']) {
    const res = await call(token, `/frozen/${action}`)
    t.equal(res.statusCode, 403)
    t.match(res.json(), { success: false, error: { code: 'TABLE_READ_ONLY' } })
  }
})

t.test('a field can be added to an editable table only', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['schema'] })
  const body = { field: { name: 'b', jsonType: 'string' } }
  t.same((await call(token, '/_schema/tables/cats/fields', body)).json(), { success: true, data: { table: 'cats' } })
  const res = await call(token, '/_schema/tables/frozen/fields', body)
  t.equal(res.statusCode, 403)
  t.match(res.json(), { success: false, error: { code: 'TABLE_READ_ONLY' } })
})

t.test('a new table has to be in scope by the name in the body, and need not exist', async (t) => {
  const { token } = await issue(app, { tables: ['Birds'], actions: ['schema'] })
  t.equal((await call(token, '/_schema/tables', newTable('birds'))).statusCode, 200)
  const res = await call(token, '/_schema/tables', newTable('dogs'))
  t.equal(res.statusCode, 403)
  t.match(res.json(), {
    error: {
      code: 'ACTION_NOT_ALLOWED',
      message: "The token needs the action 'schema' (or 'write') on the table 'dogs'."
    }
  })
})

t.test('table names compare ignoring case', async (t) => {
  const { token } = await issue(app, { tables: ['CATS'], actions: ['read'] })
  t.same((await call(token, '/cAtS/read')).json().data.table, 'cats')
})

/** Sends the head of a request and half its body; `finish` sends the rest and gives the answer. */
const slowCall = async (token: string) => {
  const { port } = app.server.address() as AddressInfo
  const outgoing = httpRequest({
    port,
    method: 'POST',
    path: '/data/cats/create',
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
    await app.tokens.revoke(id)
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
    await app.tokens.change(id, { permissions: { tables: ['*'], actions: ['read'] } })
    t.match(await finish(), { status: 403, body: { error: { code: 'ACTION_NOT_ALLOWED' } } })
  })

  t.test('the freezing of its table', async (t) => {
    const { token } = await fresh()
    const finish = await slowCall(token)
    tables.set('cats', registered(1, 'cats', { isEditable: false }))
    t.match(await finish(), { status: 403, body: { error: { code: 'TABLE_READ_ONLY' } } })
    tables.set('cats', registered(1, 'cats'))
  })
})

t.test('a handler that asks for what no hook established fails, and closed', async (t) => {
  const { token } = await issue(app, { tables: ['*'], actions: ['read'] })
  for (const url of ['/data/unguarded', '/bare']) {
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
  await call(token, '/cats/read')
  await until(async () => (await lastUse(id)) !== null)
  t.equal(await lastUse(id), now)
})

t.test('what another program changes is known without a restart, and faults on the way end nothing', async (t) => {
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  const answers = async (status: number) => (await call(token, '/cats/read')).statusCode === status

  lines.length = 0
  other.exec('ALTER TABLE _rowhouse_tokens RENAME TO _rowhouse_elsewhere')
  await until(() => lines.some((line) => line.includes('could not be read anew')))
  now += 1
  await call(token, '/cats/read')
  await until(() => lines.some((line) => line.includes('could not be saved')))
  t.ok(await answers(200), 'what is in memory goes on serving')

  other.exec('ALTER TABLE _rowhouse_elsewhere RENAME TO _rowhouse_tokens')
  other.prepare('UPDATE _rowhouse_tokens SET is_active = 0 WHERE id = ?').run(id)
  await until(() => answers(401))
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
  const { app, file } = await startTokenApp(t, { clock: () => now, tables: [registered(1, 'cats')] })
  const { id, token } = await issue(app, { tables: ['*'], actions: ['read'] })
  await app.inject({ method: 'POST', url: '/data/cats/read', headers: bearer(token) })
  await app.close()
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  t.equal(other.prepare('SELECT last_used_at FROM _rowhouse_tokens WHERE id = ?').pluck().get(id), now)
})

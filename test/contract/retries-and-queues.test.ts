import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTick } from 'node:timers/promises'
import t from 'tap'
import type { Permissions } from '../../schemas/token.ts'
import { READER_THREADS } from '../../services/engine/loop/reader-pool.ts'
import {
  asAdmin,
  asToken,
  bearer,
  type Client,
  client,
  createTable,
  dataOf,
  expectDone,
  expectError,
  startApp,
  type TestResponse
} from '../helpers.ts'

// A caller can lose a right while its request is queued for a reader thread, or before a write is retried.
// Most tests also send a request whose caller keeps the right, which succeeds.

const app = await startApp(t)
const admin = await asAdmin(app)

const createTableWithRecord = async (name: string) => {
  const fields = ['name', 'secret'].map((field) => ({ name: field, jsonType: 'string' as const }))
  const { id } = await createTable(admin, { name, fields })
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom', secret: 'hush' }))
  return id
}
const cats = await createTableWithRecord('cats')
const dogs = await createTableWithRecord('dogs')

/** The scans that the service has requested. */
const scans: Promise<unknown>[] = []
const { scan, chunkScan } = app.database
const record = <T>(scanned: Promise<T>) => {
  scans.push(scanned)
  return scanned
}
app.database.scan = (...args) => record(scan(...args))
app.database.chunkScan = (caller) => {
  const scanChunk = chunkScan(caller)
  return (statement) => record(scanChunk(statement))
}

/** Keeps every reader thread busy until the returned function is called. */
const occupyReaders = async () => {
  // A reader thread is released one tick after its result.
  for (let tick = 0; tick < 3; tick += 1) await nextTick()
  let release = () => {}
  const free = new Promise<void>((resolve) => {
    release = resolve
  })
  for (let thread = 0; thread < READER_THREADS; thread += 1) {
    const blocker = { kind: 'service' as const, id: 100 + thread, name: '', confirm: () => free }
    scan({ sql: 'SELECT 1', params: [] }, blocker).catch(t.threw)
  }
  return release
}

/** Sends requests, and resolves with their scans once `count` of them are queued. */
const untilQueued = async (count: number, send: () => void) => {
  const before = scans.length
  send()
  while (scans.length < before + count) await nextTick()
  return scans.slice(before)
}

type Requests = Readonly<Record<'affected' | 'unaffected', () => Promise<TestResponse>>>

/** Calls `act` while the scans of two requests are queued: one that it affects and one that it does not. */
const whileQueued = async (requests: Requests, act: () => Promise<unknown>) => {
  const release = await occupyReaders()
  const responses: Promise<TestResponse>[] = []
  await untilQueued(2, () => responses.push(requests.affected(), requests.unaffected()))
  await act()
  release()
  const [affected, unaffected] = await Promise.all(responses)
  return { affected, unaffected } as Record<keyof Requests, TestResponse>
}

const READ: Permissions = { tables: ['*'], actions: ['read'] }
const search = ({ get }: Client, table = 'cats') => get(`/data/${table}?q=tom`)

t.test('a search whose token was revoked while it was queued returns no rows', async (t) => {
  const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'short', permissions: READ }))
  const [revoked, valid] = [client(app, bearer(token)), await asToken(app, admin, READ)]
  const requests = { affected: () => search(revoked), unaffected: () => search(valid) }
  const { affected, unaffected } = await whileQueued(requests, () => admin.delete(`/admin/tokens/${id}`))
  expectError(t, affected, 401, 'INVALID_TOKEN')
  t.equal(affected.headers['www-authenticate'], 'Bearer')
  t.strictSame(dataOf(unaffected).rows, [{ id: 1, name: 'Tom', secret: 'hush' }])
})

t.test('an export whose token was revoked while it was queued has neither header nor rows', async (t) => {
  for (const query of ['', '?page=1']) {
    const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'short', permissions: READ }))
    const [revoked, valid] = [client(app, bearer(token)), await asToken(app, admin, READ)]
    const exported = ({ get }: Client) => get(`/data/cats/export${query}`)
    const requests = { affected: () => exported(revoked), unaffected: () => exported(valid) }
    const { affected, unaffected } = await whileQueued(requests, () => admin.delete(`/admin/tokens/${id}`))
    expectError(t, affected, 401, 'INVALID_TOKEN')
    t.equal(unaffected.body, '"id","name","secret"\r\n1,"Tom","hush"\r\n')
  }
})

t.test('an export whose session ended while it was queued has neither header nor rows', async (t) => {
  for (const query of ['', '?page=1']) {
    const other = await asAdmin(app)
    const exported = ({ get }: Client) => get(`/admin/tables/${cats}/export${query}`)
    const requests = { affected: () => exported(other), unaffected: () => exported(admin) }
    const { affected, unaffected } = await whileQueued(requests, () => other.post('/auth/logout'))
    expectError(t, affected, 401, 'AUTHENTICATION_REQUIRED')
    t.equal(unaffected.body, '"id","name","secret"\r\n1,"Tom","hush"\r\n')
  }
})

t.test('a sorted export whose session ended while it was sorted has neither header nor rows', async (t) => {
  for (const [query, rows] of [
    ['order=name', '1,"Tom","hush"\r\n'],
    ['q=nothing', '']
  ] as const) {
    const other = await asAdmin(app)
    const { holdReader } = app.database
    app.database.holdReader = async (caller) => {
      expectDone(t, await other.post('/auth/logout'))
      app.database.holdReader = holdReader
      return holdReader(caller)
    }
    const sorted = ({ get }: Client, query: string) => get(`/admin/tables/${cats}/export?${query}`)
    expectError(t, await sorted(other, query), 401, 'AUTHENTICATION_REQUIRED')
    t.equal((await sorted(admin, query)).body, `"id","name","secret"\r\n${rows}`)
  }
})

t.test(
  'a write to a record that was created concurrently is retried, but not after its token was revoked',
  async (t) => {
    const { write } = app.database
    const calls = {
      update: (caller: Client, pk: number) => caller.put(`/data/cats/records/${pk}`, { name: 'late' }),
      delete: (caller: Client, pk: number) => caller.delete(`/data/cats/records/${pk}`)
    }
    for (const [action, call] of Object.entries(calls)) {
      for (const ends of [true, false]) {
        const permissions = { tables: ['cats'], actions: [action as 'update'] }
        const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'ends', permissions }))
        const caller = client(app, bearer(token))
        const { total } = dataOf(await admin.get(`/admin/tables/${cats}/data`))
        const pk = total + 1000
        app.database.write = async (unit) => {
          app.database.write = write
          const missed = await write(unit).catch((error) => error)
          dataOf(await admin.post(`/admin/tables/${cats}/data`, { id: pk, name: 'new' }))
          if (ends) expectDone(t, await admin.delete(`/admin/tokens/${id}`))
          throw missed
        }
        const response = await call(caller, pk)
        if (ends) expectError(t, response, 401, 'INVALID_TOKEN')
        else expectDone(t, response)
        const stored = await admin.get(`/admin/tables/${cats}/data/${pk}`)
        const isCarriedOut = action === 'update' ? dataOf(stored).name === 'late' : stored.statusCode === 404
        t.equal(isCarriedOut, !ends, `${action}, ${ends ? 'ended' : 'not ended'}`)
        await admin.delete(`/admin/tables/${cats}/data/${pk}`)
      }
    }
  }
)

t.test('a retried write changes no field that has become read-only', async (t) => {
  const { write } = app.database
  const token = await asToken(app, admin, { tables: ['cats'], actions: ['read', 'update'] })
  const pk = 1000
  for (const isReadonly of [true, false]) {
    app.database.write = async (unit) => {
      app.database.write = write
      const missed = await write(unit).catch((error) => error)
      dataOf(await admin.post(`/admin/tables/${cats}/data`, { id: pk, name: 'new' }))
      dataOf(await admin.put(`/admin/tables/${cats}`, { label: 'Cats', fields: [{ name: 'name', isReadonly }] }))
      throw missed
    }
    const response = await token.put(`/data/cats/records/${pk}`, { name: 'late' })
    if (isReadonly) expectError(t, response, 409, 'TABLE_CHANGED')
    else expectDone(t, response)
    t.equal(dataOf(await admin.get(`/admin/tables/${cats}/data/${pk}`)).name, isReadonly ? 'new' : 'late')
    await admin.put(`/admin/tables/${cats}`, { fields: [{ name: 'name', isReadonly: false }] })
    expectDone(t, await admin.delete(`/admin/tables/${cats}/data/${pk}`))
  }
})

t.test('a search in a table that was unpublished while the search was queued is refused', async (t) => {
  const token = await asToken(app, admin, READ)
  const requests = { affected: () => search(token), unaffected: () => search(token, 'dogs') }
  const { affected, unaffected } = await whileQueued(requests, () =>
    admin.put(`/admin/tables/${cats}`, { isPublished: false })
  )
  expectError(t, affected, 404, 'TABLE_NOT_FOUND')
  t.equal(dataOf(unaffected).total, 1)
  dataOf(await admin.put(`/admin/tables/${cats}`, { isPublished: true }))
})

t.test('a field that was hidden while a search was queued is shown to administrators only', async (t) => {
  const token = await asToken(app, admin, READ)
  const requests = { affected: () => search(token), unaffected: () => admin.get(`/admin/tables/${cats}/data?q=tom`) }
  const hide = (isHidden: boolean) =>
    admin.put(`/admin/tables/${cats}`, { fields: [{ name: 'secret', isHidden }] }).then(dataOf)
  const { affected, unaffected } = await whileQueued(requests, () => hide(true))
  expectError(t, affected, 409, 'TABLE_CHANGED')
  t.equal(dataOf(unaffected).rows[0].secret, 'hush')
  t.strictSame(dataOf(await search(token)).rows, [{ id: 1, name: 'Tom' }])
  await hide(false)
})

t.test('a search succeeds if only the label of its table changed while it was queued', async (t) => {
  const token = await asToken(app, admin, READ)
  const requests = { affected: () => search(token), unaffected: () => search(token, 'dogs') }
  const { affected } = await whileQueued(requests, () => admin.put(`/admin/tables/${cats}`, { label: 'Cats' }))
  t.equal(dataOf(affected).total, 1)
})

t.test('a search whose session ended while it was queued returns no rows', async (t) => {
  const ended = await asAdmin(app)
  const url = `/admin/tables/${cats}/data?q=tom`
  const requests = { affected: () => ended.get(url), unaffected: () => admin.get(url) }
  const { affected, unaffected } = await whileQueued(requests, () => ended.post('/auth/logout'))
  expectError(t, affected, 401, 'AUTHENTICATION_REQUIRED')
  t.equal(dataOf(unaffected).total, 1)
})

t.test('the queued search of a disconnected client is not run', async (t) => {
  const token = await asToken(app, admin, READ)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const begin = async () => {
    const served = once(app.server, 'connection') as Promise<[Socket]>
    const socket = connect({ host: '127.0.0.1', port })
    const [scanned] = await untilQueued(1, () =>
      socket.write(
        `GET /data/cats?q=tom HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: ${token.headers.authorization}\r\n\r\n`
      )
    )
    const [server] = await served
    return { socket, server, scanned }
  }
  const release = await occupyReaders()
  const [disconnected, connected] = [await begin(), await begin()]
  disconnected.socket.destroy()
  await t.rejects(Promise.resolve(disconnected.scanned), { message: /disconnected/ })
  release()
  t.match(await text(connected.socket), /^HTTP\/1\.1 200 .*"total":1/s)
})

t.test('a change of a table is retried, but not after its session has ended', async (t) => {
  const { write } = app.database
  const url = `/admin/tables/${dogs}`
  const calls = {
    update: ({ put }: Client) => put(url, { isPublished: false }),
    refresh: ({ post }: Client) => post(`${url}/refresh`)
  }
  for (const [name, call] of Object.entries(calls)) {
    for (const ends of [true, false]) {
      const other = await asAdmin(app)
      app.database.write = async (unit) => {
        app.database.write = write
        dataOf(await admin.put(url, { note: 'changed', isPublished: true }))
        if (ends) expectDone(t, await other.post('/auth/logout'))
        return write(unit)
      }
      const response = await call(other)
      if (ends) expectError(t, response, 401, 'AUTHENTICATION_REQUIRED')
      else t.equal(dataOf(response).note, 'changed')
      const isUnpublished = dataOf(await admin.get(url)).isPublished === false
      t.equal(isUnpublished, name === 'update' && !ends)
    }
  }
  dataOf(await admin.put(url, { isPublished: true, note: null }))
})

t.test(
  'the number of rows of a table to unregister is not shown if the session ends before they are counted',
  async (t) => {
    const other = await asAdmin(app)
    const url = `/admin/tables/${dogs}`
    const requests = { affected: () => other.delete(url), unaffected: () => admin.delete(url) }
    const { affected, unaffected } = await whileQueued(requests, () => other.post('/auth/logout'))
    expectError(t, affected, 401, 'AUTHENTICATION_REQUIRED')
    expectError(t, unaffected, 400, 'CONFIRMATION_REQUIRED')
    t.match(unaffected.json().error.message, /has 1 row\. Unregistering keeps the rows/)
  }
)

t.test('the addition of a field is not retried after its token was revoked', async (t) => {
  const { id, token } = dataOf(
    await admin.post('/admin/tokens', { name: 'fields', permissions: { tables: ['*'], actions: ['schema'] } })
  )
  const caller = client(app, bearer(token))
  const add = (name: string) => caller.post('/data/_schema/tables/dogs/fields', { field: { name, jsonType: 'string' } })
  const { write } = app.database
  let isFirst = true
  app.database.write = async (unit) => {
    if (!isFirst || !unit.some(({ sql }) => sql.startsWith('ALTER TABLE'))) return write(unit)
    isFirst = false
    // This change makes the first attempt fail.
    dataOf(await admin.put(`/admin/tables/${dogs}`, { note: 'changed' }))
    dataOf(await admin.delete(`/admin/tokens/${id}`))
    return write(unit)
  }
  expectError(t, await add('late'), 401, 'INVALID_TOKEN')
  app.database.write = write
  const { fields } = dataOf(await admin.get(`/admin/tables/${dogs}`))
  t.notOk(fields.some(({ name }: { name: string }) => name === 'late'))
})

import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { Permissions } from '../../schemas/token.ts'
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

// Searches that wait for a reader thread, changes that are tried again, and what happens meanwhile.

const app = await startApp(t)
const admin = await asAdmin(app)

const makeTable = async (name: string) => {
  const fields = ['name', 'secret'].map((field) => ({ name: field, jsonType: 'string' as const }))
  const { id } = await createTable(admin, { name, fields })
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom', secret: 'hush' }))
  return id
}
const cats = await makeTable('cats')
const dogs = await makeTable('dogs')

/** Every scan that was requested. */
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

/** Keeps every reader thread busy until it is called. */
const occupyReaders = async () => {
  // Threads are given back in the turn after their answers.
  for (let turn = 0; turn < 3; turn += 1) await nextTurn()
  let release = () => {}
  const free = new Promise<void>((resolve) => {
    release = resolve
  })
  const blocker = { kind: 'service' as const, id: 99, confirm: () => free }
  for (let thread = 0; thread < Math.max(2, availableParallelism()); thread += 1)
    scan({ sql: 'SELECT 1', params: [] }, blocker).catch(t.threw)
  return release
}

/** Resolves once so many more scans have been asked for. */
const asked = async (more: number, ask: () => void) => {
  const before = scans.length
  ask()
  while (scans.length < before + more) await nextTurn()
  return scans.slice(before)
}

type Searches = Readonly<Record<'refused' | 'given', () => Promise<TestResponse>>>

/** The answers to two searches that have waited while something was done. */
const whileWaiting = async (searches: Searches, act: () => Promise<unknown>) => {
  const release = await occupyReaders()
  const answered: Promise<TestResponse>[] = []
  await asked(2, () => answered.push(searches.refused(), searches.given()))
  await act()
  release()
  const [refused, given] = await Promise.all(answered)
  return { refused, given } as Record<keyof Searches, TestResponse>
}

const READ: Permissions = { tables: ['*'], actions: ['read'] }
const search = ({ get }: Client, table = 'cats') => get(`/data/${table}?q=tom`)

t.test('a token that was revoked while its search waited has no rows; another has', async (t) => {
  const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'short', permissions: READ }))
  const [ended, alive] = [client(app, bearer(token)), await asToken(app, admin, READ)]
  const searches = { refused: () => search(ended), given: () => search(alive) }
  const { refused, given } = await whileWaiting(searches, () => admin.delete(`/admin/tokens/${id}`))
  expectError(t, refused, 401, 'INVALID_TOKEN')
  t.equal(refused.headers['www-authenticate'], 'Bearer')
  t.strictSame(dataOf(given).rows, [{ id: 1, name: 'Tom', secret: 'hush' }])
})

t.test('an export that waited while its session ended has neither header nor rows; another has', async (t) => {
  for (const query of ['', '?page=1']) {
    const other = await asAdmin(app)
    const exported = ({ get }: Client) => get(`/admin/tables/${cats}/export${query}`)
    const searches = { refused: () => exported(other), given: () => exported(admin) }
    const { refused, given } = await whileWaiting(searches, () => other.post('/auth/logout'))
    expectError(t, refused, 401, 'AUTHENTICATION_REQUIRED')
    t.equal(given.body, '"id","name","secret"\r\n1,"Tom","hush"\r\n')
  }
})

t.test('a sorted export whose session ended while it was sorted has neither header nor rows', async (t) => {
  for (const [query, rows] of [
    ['order=name', '1,"Tom","hush"\r\n'],
    ['q=nothing', '']
  ] as const) {
    const other = await asAdmin(app)
    const { holdReader } = app.database
    app.database.holdReader = async () => {
      expectDone(t, await other.post('/auth/logout'))
      app.database.holdReader = holdReader
      return holdReader()
    }
    const sorted = ({ get }: Client, query: string) => get(`/admin/tables/${cats}/export?${query}`)
    expectError(t, await sorted(other, query), 401, 'AUTHENTICATION_REQUIRED')
    t.equal((await sorted(admin, query)).body, `"id","name","secret"\r\n${rows}`)
  }
})

t.test('a write that is tried again, on a record made meanwhile, is not once the right to it has ended', async (t) => {
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
      const answer = await call(caller, pk)
      if (ends) expectError(t, answer, 401, 'INVALID_TOKEN')
      else expectDone(t, answer)
      const stored = await admin.get(`/admin/tables/${cats}/data/${pk}`)
      const isCarriedOut = action === 'update' ? dataOf(stored).name === 'late' : stored.statusCode === 404
      t.equal(isCarriedOut, !ends, `${action}, ${ends ? 'ended' : 'not ended'}`)
      await admin.delete(`/admin/tables/${cats}/data/${pk}`)
    }
  }
})

t.test(
  'a write that is tried again changes no field that was made read-only meanwhile; any other it does',
  async (t) => {
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
      const answer = await token.put(`/data/cats/records/${pk}`, { name: 'late' })
      if (isReadonly) expectError(t, answer, 409, 'TABLE_CHANGED')
      else expectDone(t, answer)
      t.equal(dataOf(await admin.get(`/admin/tables/${cats}/data/${pk}`)).name, isReadonly ? 'new' : 'late')
      await admin.put(`/admin/tables/${cats}`, { fields: [{ name: 'name', isReadonly: false }] })
      expectDone(t, await admin.delete(`/admin/tables/${cats}/data/${pk}`))
    }
  }
)

t.test('a table that was unpublished while a search waited is not there; another is', async (t) => {
  const token = await asToken(app, admin, READ)
  const searches = { refused: () => search(token), given: () => search(token, 'dogs') }
  const { refused, given } = await whileWaiting(searches, () =>
    admin.put(`/admin/tables/${cats}`, { isPublished: false })
  )
  expectError(t, refused, 404, 'TABLE_NOT_FOUND')
  t.equal(dataOf(given).total, 1)
  dataOf(await admin.put(`/admin/tables/${cats}`, { isPublished: true }))
})

t.test('a field that was hidden while a search waited is shown to no token; to an administrator it is', async (t) => {
  const token = await asToken(app, admin, READ)
  const searches = { refused: () => search(token), given: () => admin.get(`/admin/tables/${cats}/data?q=tom`) }
  const hide = (isHidden: boolean) =>
    admin.put(`/admin/tables/${cats}`, { fields: [{ name: 'secret', isHidden }] }).then(dataOf)
  const { refused, given } = await whileWaiting(searches, () => hide(true))
  expectError(t, refused, 409, 'TABLE_CHANGED')
  t.equal(dataOf(given).rows[0].secret, 'hush')
  t.strictSame(dataOf(await search(token)).rows, [{ id: 1, name: 'Tom' }])
  await hide(false)
})

t.test('a search that waited while the label of its table was changed is answered', async (t) => {
  const token = await asToken(app, admin, READ)
  const searches = { refused: () => search(token), given: () => search(token, 'dogs') }
  const { refused: answer } = await whileWaiting(searches, () => admin.put(`/admin/tables/${cats}`, { label: 'Cats' }))
  t.equal(dataOf(answer).total, 1)
})

t.test('a session that ended while its search waited has no rows; another has', async (t) => {
  const ended = await asAdmin(app)
  const url = `/admin/tables/${cats}/data?q=tom`
  const searches = { refused: () => ended.get(url), given: () => admin.get(url) }
  const { refused, given } = await whileWaiting(searches, () => ended.post('/auth/logout'))
  expectError(t, refused, 401, 'AUTHENTICATION_REQUIRED')
  t.equal(dataOf(given).total, 1)
})

t.test('the search of a client that has gone is not run; that of one who waits is', async (t) => {
  const token = await asToken(app, admin, READ)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const begin = async () => {
    const served = once(app.server, 'connection') as Promise<[Socket]>
    const waiting = connect({ host: '127.0.0.1', port })
    const [found] = await asked(1, () =>
      waiting.write(
        `GET /data/cats?q=tom HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: ${token.headers.authorization}\r\n\r\n`
      )
    )
    const [server] = await served
    return { waiting, server, found }
  }
  const release = await occupyReaders()
  const [leaves, stays] = [await begin(), await begin()]
  leaves.waiting.destroy()
  await once(leaves.server, 'close')
  release()
  await t.rejects(Promise.resolve(leaves.found), { message: /gone/ })
  t.match(await text(stays.waiting), /^HTTP\/1\.1 200 .*"total":1/s)
})

t.test('a change of a table that is tried again is not once its session has ended; another is', async (t) => {
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
      const answer = await call(other)
      if (ends) expectError(t, answer, 401, 'AUTHENTICATION_REQUIRED')
      else t.equal(dataOf(answer).note, 'changed')
      const isUnpublished = dataOf(await admin.get(url)).isPublished === false
      t.equal(isUnpublished, name === 'update' && !ends)
    }
  }
  dataOf(await admin.put(url, { isPublished: true, note: null }))
})

t.test(
  'who asks to unregister a table is told how many rows it has, if the session lasts until they are counted',
  async (t) => {
    const other = await asAdmin(app)
    const url = `/admin/tables/${dogs}`
    const searches = { refused: () => other.delete(url), given: () => admin.delete(url) }
    const { refused, given } = await whileWaiting(searches, () => other.post('/auth/logout'))
    expectError(t, refused, 401, 'AUTHENTICATION_REQUIRED')
    expectError(t, given, 400, 'CONFIRMATION_REQUIRED')
    t.match(given.json().error.message, /has 1 rows/)
  }
)

t.test('a field that is added again and again is added no more once the right to it has ended', async (t) => {
  const { id, token } = dataOf(
    await admin.post('/admin/tokens', { name: 'fields', permissions: { tables: ['*'], actions: ['schema'] } })
  )
  const ending = client(app, bearer(token))
  const add = (name: string) => ending.post('/data/_schema/tables/dogs/fields', { field: { name, jsonType: 'string' } })
  const { write } = app.database
  /** Somebody else's change comes first, and then the end of the right. */
  let isFirst = true
  app.database.write = async (unit) => {
    if (!isFirst || !unit.some(({ sql }) => sql.startsWith('ALTER TABLE'))) return write(unit)
    isFirst = false
    dataOf(await admin.put(`/admin/tables/${dogs}`, { note: 'changed' }))
    dataOf(await admin.delete(`/admin/tokens/${id}`))
    return write(unit)
  }
  expectError(t, await add('late'), 401, 'INVALID_TOKEN')
  app.database.write = write
  const { fields } = dataOf(await admin.get(`/admin/tables/${dogs}`))
  t.notOk(fields.some(({ name }: { name: string }) => name === 'late'))
})

import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { UnexpectedChanges } from '../../services/engine/database.ts'
import { outcomeUnknown } from '../../services/engine/loop/pending-units.ts'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectError,
  importTable,
  issueKey,
  startApp
} from '../helpers.ts'
import { startCluster, toCluster } from './cluster.ts'

/** Starts two services of one cluster, with an administrator of each. */
const startTwo = async (t: Test) => {
  const { env, fake } = await startCluster(t)
  const [first, second] = [await startApp(t, { env }), await startApp(t, { env })]
  return { fake, first, second, admin: await asAdmin(first), other: await asAdmin(second) }
}

const PERMISSIONS = { tables: ['*'], actions: ['read', 'write', 'schema'] }

t.test('each service knows at once what another one has changed', async (t) => {
  const { second, admin, other } = await startTwo(t)
  const cats = await createTable(admin, {
    name: 'cats',
    fields: [
      { name: 'name', jsonType: 'string' },
      { name: 'lives', jsonType: 'integer' }
    ]
  })

  const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const program = client(second, bearer(token))
  expectData(t, await program.post('/data/cats/records', { name: 'Kitty', lives: 9 }), {
    id: 1,
    name: 'Kitty',
    lives: 9
  })
  t.equal(dataOf(await admin.get(`/admin/tables/${cats.id}/data`)).total, 1)

  dataOf(await admin.post(`/admin/tables/${cats.id}/fields`, { field: { name: 'color', jsonType: 'string' } }))
  expectData(t, await program.patch('/data/cats/records/1', { color: 'grey' }), { success: true })
  t.equal(dataOf(await program.get('/data/cats/schema')).fields.length, 4)

  dataOf(await other.put(`/admin/tables/${cats.id}`, { isPublished: false }))
  expectError(t, await client(second, bearer(token)).get('/data/cats'), 404, 'TABLE_NOT_FOUND')
  dataOf(await admin.put(`/admin/tables/${cats.id}`, { isPublished: true }))
  t.equal(dataOf(await program.get('/data/cats')).total, 1)

  dataOf(await admin.delete(`/admin/tokens/${id}`))
  expectError(t, await program.get('/data/cats'), 401, 'INVALID_TOKEN')
})

t.test('a change of a role by one service holds at the other one with the next request', async (t) => {
  const { second, admin, other } = await startTwo(t)
  await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  await createTable(admin, { name: 'dogs', fields: [{ name: 'name', jsonType: 'string' }] })
  const grants = [{ tables: ['cats'], actions: ['read'] }]
  const role = dataOf(await admin.post('/admin/roles', { name: 'reader', grants }))
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', role: 'reader' }))
  const program = client(second, bearer(token))
  t.equal((await program.get('/data/cats')).statusCode, 200)
  dataOf(await admin.put(`/admin/roles/${role.id}`, { grants: [{ tables: ['dogs'], actions: ['read'] }] }))
  expectError(t, await program.get('/data/cats'), 403, 'ACTION_NOT_ALLOWED')
  t.equal((await program.get('/data/dogs')).statusCode, 200)
  t.match(dataOf(await other.get('/admin/roles')), [{ grants: [{ tables: ['dogs'] }], tokens: 1 }])
})

t.test('a view that one service has issued reads at the other one, until the token ends', async (t) => {
  const { second, admin, other } = await startTwo(t)
  await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const { id } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const view = client(second, bearer(dataOf(await admin.post(`/admin/tokens/${id}/view`)).token))
  t.equal(dataOf(await view.get('/data/cats')).total, 0)
  expectError(t, await view.post('/data/cats/records', { name: 'Tom' }), 403, 'ACTION_NOT_ALLOWED')
  t.match(dataOf(await other.post(`/admin/tokens/${id}/explain`, { table: 'cats', action: 'read' })), { allowed: true })
  dataOf(await admin.put(`/admin/tokens/${id}`, { isActive: false }))
  expectError(t, await view.get('/data/cats'), 401, 'INVALID_TOKEN')
})

t.test('each service knows at once the admin keys that another one has issued and revoked', async (t) => {
  const { first, second, admin, other } = await startTwo(t)
  const { id, key } = await issueKey(admin, ['tables:read', 'tables:write'])
  const script = client(second, bearer(key))
  const fields = [{ name: 'name', jsonType: 'string' }]
  t.equal(dataOf(await script.post('/admin/tables', { name: 'cats', label: '', fields })).name, 'cats')
  t.match(dataOf(await client(first, bearer(key)).get('/admin/tables')), [{ name: 'cats' }])
  expectError(t, await script.get('/admin/tokens'), 403, 'ADMIN_KEY_NOT_ALLOWED')
  await second.adminKeys.flush()
  const uses = { sql: 'SELECT last_used_at FROM _rowhouse_admin_keys', params: [] }
  t.match(await first.database.read(uses), [{ last_used_at: Number }])
  dataOf(await other.delete(`/admin/keys/${id}`))
  expectError(t, await client(first, bearer(key)).get('/admin/tables'), 401, 'INVALID_ADMIN_KEY')
  expectError(t, await script.get('/admin/tables'), 401, 'INVALID_ADMIN_KEY')
})

t.test('a token that another service has revoked reads nothing, although its request began before', async (t) => {
  const { second, admin } = await startTwo(t)
  await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const query = async (revokes: boolean) => {
    const { id, token } = dataOf(
      await admin.post('/admin/tokens', { name: `Till ${revokes}`, permissions: PERMISSIONS })
    )
    const payload = new PassThrough()
    payload.write('{"size":')
    const headers = { ...bearer(token), 'content-type': 'application/json' }
    const responding = second.inject({ method: 'POST', url: '/data/cats/query', headers, payload })
    // Longer than the time after which a service compares the epoch again.
    await delay(1500)
    if (revokes) dataOf(await admin.delete(`/admin/tokens/${id}`))
    payload.end('5}')
    return responding
  }
  t.equal((await query(false)).statusCode, 200)
  expectError(t, await query(true), 401, 'INVALID_TOKEN')
})

t.test('a session of one service is one of the other', async (t) => {
  const { first, second, admin } = await startTwo(t)
  const elsewhere = client(second, admin.headers)
  t.equal(dataOf(await elsewhere.get('/auth/me')).name, 'admin')
  dataOf(await client(first, admin.headers).post('/auth/logout'))
  expectError(t, await elsewhere.get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
})

t.test('a setting of one service is that of the other', async (t) => {
  const { admin, other } = await startTwo(t)
  dataOf(await admin.put('/admin/settings', { maxPageSize: 7 }))
  const settings = dataOf(await other.get('/admin/settings'))
  t.match(settings, { maxPageSize: { value: 7 } })
})

t.test('totals follow the changes of the other service', async (t) => {
  const { admin, other } = await startTwo(t)
  const cats = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const path = `/admin/tables/${cats.id}/data`
  for (const each of [admin, other, admin, other]) {
    const before = dataOf(await each.get(path)).total
    dataOf(await admin.post(path, { name: 'A' }))
    dataOf(await other.post(path, { name: 'B' }))
    t.equal(dataOf(await each.get(path)).total, before + 2)
  }
})

t.test('a key of a request is one for both services', async (t) => {
  const { first, second, admin } = await startTwo(t)
  await createTable(admin, { name: 'cats', fields: [{ name: 'photo', jsonType: 'string' }] })
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const headers = { ...bearer(token), 'idempotency-key': 'one' }
  const [stored, ...others] = await Promise.all(
    [first, second, first, second].map((app) => client(app, headers).post('/data/cats/records', { photo: 'x' }))
  )
  t.ok(stored)
  const done = [stored, ...others].filter((response) => response?.statusCode === 200)
  t.ok(done.length > 0)
  const again = await client(second, headers).post('/data/cats/records', { photo: 'x' })
  for (const response of done) t.equal(response?.body, again.body)
  t.equal(dataOf(await client(first, bearer(token)).get('/data/cats')).total, 1)
})

t.test('changes of one record from both services are counted once each', async (t) => {
  const { first, second, admin } = await startTwo(t)
  await createTable(admin, { name: 'cats', fields: [{ name: 'lives', jsonType: 'integer' }] })
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const [one, two] = [client(first, bearer(token)), client(second, bearer(token))]
  dataOf(await one.post('/data/cats/records', { lives: 0 }))
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      (index % 2 ? one : two).post('/data/cats/incr', { pk: '1', field: 'lives' }).then(dataOf)
    )
  )
  t.equal(dataOf(await two.get('/data/cats/records/1')).lives, 100)
})

const SHOP = `
  CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP, day TEXT DEFAULT (date('now')));
  CREATE TABLE draws (id INTEGER PRIMARY KEY, number INTEGER DEFAULT (random()));
  CREATE TABLE lines (text TEXT);
  CREATE TABLE logged (id INTEGER PRIMARY KEY, note TEXT);
  CREATE TRIGGER log AFTER INSERT ON logged BEGIN UPDATE logged SET note = datetime('now') WHERE id = new.id; END;
  INSERT INTO draws VALUES (1, 5);`

t.test('a table that nodes would store differently is read-only, and plain time defaults are sent', async (t) => {
  const clock = () => Date.UTC(2031, 0, 2, 3, 4, 5)
  const env = await toCluster(t, { DATABASE: createDatabase(t, SHOP) })
  const app = await startApp(t, { env, clock })
  const admin = await asAdmin(app)
  const ids: Record<string, number> = {}
  for (const name of ['orders', 'draws', 'logged']) ids[name] = (await importTable(admin, name)).id
  const path = (name: string) => `/admin/tables/${ids[name]}/data`
  expectData(t, await admin.post(path('orders'), { item: 'Lamp' }), {
    id: 1,
    item: 'Lamp',
    at: '2031-01-02 03:04:05',
    day: '2031-01-02'
  })
  expectError(t, await admin.post(path('draws'), { number: 1 }), 409, 'NOT_REPLICABLE')
  expectError(t, await admin.post(path('logged'), { note: '' }), 409, 'NOT_REPLICABLE')
  t.equal(dataOf(await admin.get(`${path('draws')}/1`)).number, 5)
})

t.test('a table that another client has declared is read-only where nodes would store it differently', async (t) => {
  const { fake, admin, other } = await startTwo(t)
  const RANDOM = '(id INTEGER PRIMARY KEY, v INTEGER DEFAULT (random()))'
  fake.execute(`CREATE TABLE lots ${RANDOM}; CREATE TABLE plain (id INTEGER PRIMARY KEY, v INTEGER)`)
  const create = (user: typeof admin, { id }: { readonly id: number }) => user.post(`/admin/tables/${id}/data`, {})
  const lots = await importTable(admin, 'lots')
  for (const user of [admin, other]) expectError(t, await create(user, lots), 409, 'NOT_REPLICABLE')
  t.match(dataOf(await admin.get(`/admin/tables/${lots.id}`)).warnings, [/^'lots' can only be read, because/])
  const plain = await importTable(admin, 'plain')
  expectData(t, await create(admin, plain), { id: 1, v: null })
  fake.execute(`DROP TABLE plain; CREATE TABLE plain ${RANDOM}`)
  dataOf(await admin.post(`/admin/tables/${plain.id}/refresh`))
  for (const user of [admin, other]) expectError(t, await create(user, plain), 409, 'NOT_REPLICABLE')
})

t.test('bytes are base64 in each response, and a change compares the entity tag', async (t) => {
  const { first, admin, other } = await startTwo(t)
  const { id } = await createTable(admin, {
    name: 'files',
    fields: [
      { name: 'bytes', jsonType: 'string', sqliteType: 'BLOB' },
      { name: 'text', jsonType: 'string' }
    ]
  })
  const path = `/admin/tables/${id}/data`
  const stored = { id: 1, bytes: 'AP8=', text: 'a' }
  expectData(t, await admin.post(path, { bytes: 'AP8=', text: 'a' }), stored)
  const read = await other.get(`${path}/1`)
  expectData(t, read, stored)
  t.equal(dataOf(await other.get(path)).rows[0].bytes, 'AP8=')
  const etag = String(read.headers.etag)
  const withTag = (tag: string) => client(first, { ...admin.headers, 'if-match': tag })
  expectError(t, await withTag('"other"').patch(`${path}/1`, { text: 'b' }), 412, 'PRECONDITION_FAILED')
  dataOf(await withTag(etag).patch(`${path}/1`, { text: 'b' }))
  expectError(t, await withTag(etag).delete(`${path}/1`), 412, 'PRECONDITION_FAILED')
  const again = String((await other.get(`${path}/1`)).headers.etag)
  dataOf(await withTag(again).delete(`${path}/1`))
})

t.test('a cluster has no backups of Rowhouse, and shows its size', async (t) => {
  const { fake, env } = await startCluster(t)
  const METRICS_TOKEN = 'd5a1c0b7e2f94836a7b1c5d9e3f70248'
  const app = await startApp(t, { env: { ...env, METRICS_TOKEN } })
  const admin = await asAdmin(app)
  expectError(t, await admin.post('/admin/backups'), 409, 'NOT_ON_CLUSTER')
  expectError(t, await admin.put('/admin/settings', { backups: '0 3 * * *' }), 409, 'NOT_ON_CLUSTER')
  dataOf(await admin.put('/admin/settings', { backups: '', logLevel: 'warn' }))
  const metrics = async () => (await client(app, bearer(METRICS_TOKEN)).get('/metrics')).body
  t.match(await metrics(), /rowhouse_database_bytes \d/)
  t.notMatch(await metrics(), /rowhouse_last_backup/)
  for (let count = 0; count < 5; count += 1) fake.faults.noLeader('/db/query')
  t.match(await metrics(), /rowhouse_database_bytes \d/, 'without a leader')
  t.strictSame(dataOf(await admin.get('/admin/backups')).backups, [])
  t.ok(dataOf(await admin.get('/admin/status')).databaseBytes > 10_000)
})

t.test('a change that was made from older memory is stored only if its table is still the same', async (t) => {
  const { fake, second, admin, other } = await startTwo(t)
  const field = { name: 'name', jsonType: 'string' } as const
  const cats = await createTable(admin, { name: 'cats', fields: [field] })
  const keyed = (key: string) => client(second, { ...other.headers, 'idempotency-key': key })
  let keys = 0
  /** Sends a record to one service, and changes a table by the other one before the record is stored. */
  const createDuring = async (change: () => Promise<unknown>) => {
    const held = fake.faults.holdRequest()
    const creating = keyed(String(++keys)).post(`/admin/tables/${cats.id}/data`, { name: 'Kitty' })
    await held.arrived
    await change()
    held.release()
    return creating
  }
  const stored = await createDuring(() => createTable(admin, { name: 'dogs', fields: [field] }))
  expectData(t, stored, { id: 1, name: 'Kitty' })
  const changed = await createDuring(() =>
    admin.post(`/admin/tables/${cats.id}/fields`, { field: { name: 'color', jsonType: 'string' } })
  )
  expectError(t, changed, 409, 'TABLE_CHANGED')
  const gone = await createDuring(() => admin.delete(`/admin/tables/${cats.id}?confirm=true`))
  expectError(t, gone, 409, 'TABLE_CHANGED')
})

t.test('a request with a key gets its result, although the response of the cluster was lost', async (t) => {
  const { fake, first, admin } = await startTwo(t)
  await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const create = (key: string) =>
    client(first, { ...bearer(token), 'idempotency-key': key }).post('/data/cats/records', { name: 'Kitty' })
  const countCats = async () => dataOf(await client(first, bearer(token)).get('/data/cats')).total
  t.equal(await countCats(), 0)
  fake.faults.loseResponse()
  expectData(t, await create('one'), { id: 1, name: 'Kitty' })
  t.equal(await countCats(), 1)
  const { write } = first.database
  first.database.write = async () => Promise.reject(outcomeUnknown())
  expectError(t, await create('two'), 503, 'OUTCOME_UNKNOWN')
  first.database.write = write
  expectData(t, await create('two'), { id: 2, name: 'Kitty' })
})

t.test('an import of another service runs while its row is updated', async (t) => {
  const { fake, other } = await startTwo(t)
  const insert = (updatedAt: number) =>
    fake.execute(`INSERT INTO _rowhouse_imports (table_id, table_name, is_new_table, format, caller_kind, caller_name, state,
      stored_rows, total_rows, created_at, updated_at) VALUES (1, 'cats', 0, 'csv', 'admin', 'admin', 'running', 0, 9, 0, ${updatedAt})`)
  insert(0)
  insert(Date.now())
  const states = dataOf(await other.get('/admin/imports')).map(({ state }: { state: string }) => state)
  t.strictSame(states, ['running', 'interrupted'])
})

t.test('a step of a search index that another service has made is no failure', async (t) => {
  const lines: string[] = []
  const { env } = await startCluster(t)
  const app = await startApp(t, {
    env,
    logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } }
  })
  const admin = await asAdmin(app)
  const cats = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const { scan } = app.database
  let failures = 0
  app.database.scan = async (statement, caller) => {
    if (!/sum\(width\)/.test(statement.sql)) return scan(statement, caller)
    failures += 1
    throw new UnexpectedChanges(0)
  }
  dataOf(await admin.put(`/admin/tables/${cats.id}`, { searchIndex: true }))
  while (failures < 1) await delay(20)
  // The failure is handled after tables were read again.
  await delay(200)
  dataOf(await admin.get('/admin/tables'))
  t.strictSame(
    lines.filter((line) => line.includes('search')),
    []
  )
})

const CODES = `
  CREATE TABLE codes (code TEXT PRIMARY KEY NOT NULL, rank INTEGER);
  CREATE TABLE nullable (code TEXT PRIMARY KEY, rank INTEGER);
  CREATE TABLE collated (code TEXT COLLATE NOCASE NOT NULL, rank INTEGER, PRIMARY KEY (code COLLATE BINARY));
  INSERT INTO codes VALUES ('c', 1), ('b', 1), ('a', 1);
  INSERT INTO nullable VALUES ('gone', 0), ('b', 1), (NULL, 1), (NULL, 1), ('a', 1);
  INSERT INTO collated VALUES ('gone', 0), ('b', 1), ('A', 1), ('a', 1);`

/** Starts a service of a cluster with these tables. */
const startCodes = async (t: Test) => {
  const { fake, env } = await startCluster(t, createDatabase(t, CODES))
  return { fake, admin: await asAdmin(await startApp(t, { env })) }
}

type Codes = Awaited<ReturnType<typeof startCodes>>

/** Reads all records by cursors of one record. `between`: called after each page. */
const readByCursors = async ({ admin }: Codes, id: number, between = () => {}) => {
  const codes: (string | null)[] = []
  for (let cursor: string | null = ''; cursor !== null && codes.length < 10; ) {
    const request = { order: 'rank', size: 1, cursor }
    const page: { rows: { code: string | null }[]; next: string | null } = dataOf(
      await admin.post(`/admin/tables/${id}/query`, request)
    )
    codes.push(...page.rows.map(({ code }) => code))
    cursor = page.next
    between()
  }
  return codes
}

const changeRowids = ({ fake }: Codes, table: string) => fake.execute(`UPDATE ${table} SET rowid = rowid + 100`)

/** Waits for the query with which an export collects keys. Returns the function that lets it end. */
const holdCollecting = async ({ faults, requests }: Codes['fake']) => {
  for (;;) {
    const held = faults.holdResponse('/db/query')
    await held.arrived
    if (requests.at(-1)?.statements.some(({ sql }) => sql.includes('_rowhouse_keys'))) return held.release
    held.release()
  }
}

t.test('a cursor and a sorted export of a cluster do not depend on a rowid that is no column', async (t) => {
  const codes = await startCodes(t)
  const { fake, admin } = codes
  const { id } = await importTable(admin, 'codes')
  t.strictSame(await readByCursors(codes, id, () => changeRowids(codes, 'codes')), ['a', 'b', 'c'])

  const response = admin.get(`/admin/tables/${id}/export?order=rank&fields=code`)
  const release = await holdCollecting(fake)
  changeRowids(codes, 'codes')
  release()
  const exported = await response
  t.equal(exported.statusCode, 200)
  t.equal(exported.body, '"code"\r\n"a"\r\n"b"\r\n"c"\r\n')
})

t.test('records whose keys are NULL, or equal by a collation, are ordered by rowids, which VACUUM keeps', async (t) => {
  const codes = await startCodes(t)
  for (const [name, expected] of [
    ['nullable', [null, null, 'a', 'b']],
    ['collated', ['A', 'a', 'b']]
  ] as const) {
    const { id } = await importTable(codes.admin, name)
    codes.fake.execute(`DELETE FROM ${name} WHERE code = 'gone'`)
    t.strictSame(await readByCursors(codes, id, () => codes.fake.execute('VACUUM')), expected)
    const exported = await codes.admin.get(`/admin/tables/${id}/export?order=rank&fields=code`)
    t.equal(exported.statusCode, 200)
    t.equal(exported.body, ['"code"', ...expected.map((code) => (code === null ? '' : `"${code}"`)), ''].join('\r\n'))
  }
})

const CLASSES = `CREATE TABLE classes (id INTEGER PRIMARY KEY, v, b BLOB);
  INSERT INTO classes (id, v) VALUES (1, NULL), (2, -9e999), (3, 5), (4, 5.5), (5, 9e999), (6, ''), (7, 'ab'), (8, x''),
    (9, zeroblob(5000)), (10, x'6162'), (11, x'6163'), (12, x'ff');
  UPDATE classes SET b = v;`

t.test('cursors of a cluster lead through values of all storage classes, in both directions', async (t) => {
  const { env } = await startCluster(t, createDatabase(t, CLASSES))
  const admin = await asAdmin(await startApp(t, { env }))
  const { id: table } = await importTable(admin, 'classes')
  const read = async (order: string) => {
    const ids: number[] = []
    for (let cursor: string | null = ''; cursor !== null && ids.length < 20; ) {
      const page: { rows: { id: number }[]; next: string | null } = dataOf(
        await admin.post(`/admin/tables/${table}/query`, { order, size: 1, fields: ['id'], cursor })
      )
      ids.push(...page.rows.map(({ id }) => id))
      cursor = page.next
    }
    return ids
  }
  const ids = Array.from({ length: 12 }, (_, index) => index + 1)
  for (const order of ['v', 'b']) {
    t.strictSame(await read(order), ids)
    t.strictSame(await read(`-${order}`), ids.toReversed())
  }
})

t.test('a table is renamed although a view of the file is broken', async (t) => {
  const { fake, second, admin, other } = await startTwo(t)
  const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const permissions = { tables: ['cats'], actions: ['read'] }
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions }))
  fake.execute('CREATE VIEW broken AS SELECT gone.x FROM gone')
  const tokens = [{ id: 1, name: 'Till' }]
  t.match(dataOf(await other.put(`/admin/tables/${id}`, { name: 'pets', updateTokens: true })), {
    name: 'pets',
    tokens
  })
  t.equal(dataOf(await client(second, bearer(token)).get('/data/pets')).total, 0)
  t.match(dataOf(await admin.put(`/admin/tables/${id}`, { name: 'animals' })), { name: 'animals', tokens })
  expectError(t, await client(second, bearer(token)).get('/data/animals'), 403, 'ACTION_NOT_ALLOWED')
})

t.test('large batches of both services are stored as a whole', async (t) => {
  const { first, second, admin } = await startTwo(t)
  await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const send = async (service: typeof first, name: string) => {
    const operations = Array.from({ length: 60 }, () => ({ op: 'create', table: 'cats', values: { name } }))
    const response = await client(service, bearer(token)).post('/data/_batch', { operations })
    return dataOf(response).results.map(({ id }: { id: number }) => id)
  }
  const ids = await Promise.all([send(first, 'a'), send(first, 'b'), send(second, 'c')])
  for (const own of ids) {
    t.strictSame(
      own,
      own.map((_: number, index: number) => own[0] + index)
    )
  }
  t.equal(dataOf(await client(second, bearer(token)).get('/data/cats')).total, 180)
})

t.test('large records that a batch would return are refused before they are in the memory of a node', async (t) => {
  const { first, fake, admin } = await startTwo(t)
  await createTable(admin, { name: 'files', fields: [{ name: 'text', jsonType: 'string' }] })
  fake.execute(`INSERT INTO files (id, text) VALUES (1, replace(hex(zeroblob(${2 ** 21})), '00', 'xy')), (2, '')`)
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const program = client(first, bearer(token))
  const create = { op: 'create', table: 'files', values: { text: '' } }
  const upsert = (id: unknown) => ({ op: 'upsert', table: 'files', values: { id } })
  const send = (...operations: object[]) => program.post('/data/_batch', { operations })

  const refused = await send(create, upsert(1), upsert(2), upsert(1), upsert(1))
  expectError(t, refused, 413, 'RESULTS_TOO_LARGE')
  t.match(refused.json().error, { details: [{ path: '/operations/3' }] })
  t.equal(dataOf(await program.get('/data/files')).total, 2)
  dataOf(
    await send(create, upsert({ $result: 0, field: 'id' }), upsert(1), {
      ...create,
      op: 'delete',
      pk: 2,
      values: undefined
    })
  )
  t.equal(dataOf(await program.get('/data/files')).total, 2)
})

t.test('an operation of a batch compares the entity tag of a record', async (t) => {
  const { first, admin } = await startTwo(t)
  const field = { name: 'name', jsonType: 'string' } as const
  await createTable(admin, { name: 'cats', fields: [field] })
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: PERMISSIONS }))
  const program = client(first, bearer(token))
  dataOf(await program.post('/data/cats/records', { name: 'Kitty' }))
  const etag = String((await program.get('/data/cats/records/1')).headers.etag)
  const rename = (pk: unknown, ifMatch: string) => ({
    op: 'update',
    table: 'cats',
    pk,
    values: { name: 'Tom' },
    ifMatch
  })
  const create = { op: 'create', table: 'cats', values: { name: 'Rex' } }
  dataOf(await program.post('/data/_batch', { operations: [rename('1', etag)] }))
  const unknown = { $result: 0, field: 'id' }
  expectError(
    t,
    await program.post('/data/_batch', { operations: [create, rename(unknown, etag)] }),
    404,
    'RECORD_NOT_FOUND'
  )
  t.equal(dataOf(await program.get('/data/cats')).total, 1)
})

import t, { type Test } from 'tap'
import { DomainError } from '../../../services/model/errors.ts'
import { whenUnlocked } from '../../../services/records/import/lock-waits.ts'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectError,
  issueToken,
  logIn,
  startApp,
  type TestResponse
} from '../../helpers.ts'
import { LOCK, onlyOnFile, openServed } from '../../served.ts'
import { interrupt } from '../../staging-events.ts'

const file = createDatabase(t, 'CREATE TABLE other (id INTEGER PRIMARY KEY)')
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const csv = client(app, { ...(await logIn(app)), 'content-type': 'text/csv' })

/** The first step of an import stores 5,000 records, or fewer if the table has triggers. */
const FIRST = 5000
const ROWS = 6000
const FILE = `n\n${Array.from({ length: ROWS }, (_, index) => `${index}\n`).join('')}`

let made = 0
const newTable = () => {
  made += 1
  return createTable(admin, { name: `table_${made}`, fields: [{ name: 'n', jsonType: 'integer' }] })
}
const totalOf = async (id: number) => dataOf(await admin.get(`/admin/tables/${id}/data`)).total
const latest = async () => dataOf(await admin.get('/admin/imports'))[0]

/** Runs SQL on the file as another program. */
const run = (sql: string) => {
  openServed(t, file).exec(sql)
}
const refuse = (table: string, n: number) =>
  run(`CREATE TRIGGER odd_${table} BEFORE INSERT ON ${table} WHEN new.n = ${n} BEGIN SELECT RAISE(ABORT, 'odd'); END`)

const skipIn = (stopped: TestResponse) => Number(/`skip=(\d+)`/.exec(stopped.json().error.hint)?.[1])

t.test('an import is listed, with its file and its caller', async (t) => {
  const { id, name } = await newTable()
  const token = bearer(await issueToken(admin, { tables: [name], actions: ['create'] }))
  const asToken = client(app, { ...token, 'content-type': 'application/x-ndjson' })
  const imported = { rows: 1, created: 1, updated: 0, atomic: true, dryRun: false }
  expectData(t, await asToken.post(`/data/${name}/import?file=one.ndjson`, '{"n":1}\n'), imported)
  const { id: importId, createdAt, updatedAt, ...listed } = await latest()
  t.ok(updatedAt >= createdAt && importId > 0)
  t.strictSame(listed, {
    tableId: id,
    table: name,
    isNewTable: false,
    file: 'one.ndjson',
    format: 'ndjson',
    callerKind: 'token',
    callerName: 'test',
    state: 'done',
    storedRows: 1,
    totalRows: 1,
    error: null
  })
  expectData(t, await csv.post(`/admin/tables/${id}/import`, 'n\n'), { ...imported, rows: 0, created: 0 })
  t.match(await latest(), { callerKind: 'admin', callerName: 'admin', file: null, state: 'done', totalRows: 0 })
})

t.test('a dry run and a file with errors are not listed', async (t) => {
  const { id } = await newTable()
  const before = await latest()
  dataOf(await csv.post(`/admin/tables/${id}/import?dryRun=true`, 'n\n1\n'))
  expectError(t, await csv.post(`/admin/tables/${id}/import`, 'n\nx\n'), 400, 'IMPORT_FAILED')
  t.strictSame(await latest(), before)
})

t.test('an import that failed continues after the records that are stored', async (t) => {
  const { id, name } = await newTable()
  const url = `/admin/tables/${id}/import`
  refuse(name, FIRST)
  const stopped = await csv.post(url, FILE)
  expectError(t, stopped, 409, 'IMPORT_STOPPED')
  const skip = skipIn(stopped)
  t.ok(skip > 0 && skip <= FIRST, `${skip}`)
  t.match(await latest(), { tableId: id, state: 'failed', storedRows: skip, totalRows: ROWS, error: /A trigger/ })
  t.equal(await totalOf(id), skip)

  run(`DROP TRIGGER odd_${name}`)
  const rest = { rows: ROWS, created: ROWS - skip, updated: 0, atomic: true, dryRun: false }
  expectData(t, await csv.post(`${url}?skip=${skip}&dryRun=true`, FILE), { ...rest, dryRun: true })
  expectData(t, await csv.post(`${url}?skip=${skip}`, FILE), rest)
  t.match(await latest(), { state: 'done', storedRows: ROWS, totalRows: ROWS })
  t.equal(await totalOf(id), ROWS)
  const numbers = openServed(t, file, { readonly: true })
  t.equal(numbers.prepare(`SELECT count(DISTINCT n) FROM ${name}`).pluck().get(), ROWS)
})

t.test('the order of the keys decides which records are skipped', async (t) => {
  const { id } = await newTable()
  const text = 'id,n\n3,30\n1,10\n2,20\n'
  expectData(t, await csv.post(`/admin/tables/${id}/import`, 'id,n\n1,10\n'), {
    rows: 1,
    created: 1,
    updated: 0,
    atomic: true,
    dryRun: false
  })
  const response = await csv.post(`/admin/tables/${id}/import?skip=1`, text)
  expectData(t, response, { rows: 3, created: 2, updated: 0, atomic: true, dryRun: false })
  const all = await csv.post(`/admin/tables/${id}/import?skip=3`, text)
  expectData(t, all, { rows: 3, created: 0, updated: 0, atomic: true, dryRun: false })
  const more = await csv.post(`/admin/tables/${id}/import?skip=4`, text)
  expectError(t, more, 400, 'VALIDATION_FAILED', '/skip')
  t.match(more.json().error.message, 'only 3 records')
  t.equal(await totalOf(id), 3)
})

t.test('an import waits for a lock of another program', onlyOnFile(LOCK), async (t) => {
  const { id } = await newTable()
  const other = openServed(t, file)
  // The writer thread itself waits for 2 s.
  const lock = async () => {
    other.exec('BEGIN IMMEDIATE')
    setTimeout(() => other.exec('COMMIT'), 2500)
  }
  interrupt(t, app, 'step', (call) => call === 1 && lock())
  dataOf(await csv.post(`/admin/tables/${id}/import`, FILE))
  t.equal(await totalOf(id), ROWS)
  t.match(await latest(), { state: 'done', storedRows: ROWS })
})

t.test('the wait for a lock ends', async (t) => {
  const busy = new DomainError('DATABASE_BUSY', 'Locked.')
  let calls = 0
  const fail = async () => {
    calls += 1
    throw busy
  }
  t.equal(await whenUnlocked(fail, 150).catch((error) => error), busy)
  t.ok(calls > 1)
  const broken = new Error('broken')
  t.equal(await whenUnlocked(() => Promise.reject(broken)).catch((error) => error), broken)
})

/** Replaces a function of a part of the service until `t` ends. */
const replace = <T extends object>(t: Test, part: T, functions: Partial<T>) => {
  const before = Object.fromEntries(Object.keys(functions).map((name) => [name, part[name as keyof T]]))
  Object.assign(part, functions)
  const restore = () => Object.assign(part, before)
  t.teardown(restore)
  return restore
}

t.test('a failed clean-up changes no response', async (t) => {
  const { id, name } = await newTable()
  const { stage } = app.database
  replace(t, app.database, {
    stage: (request) => {
      const staging = stage(request)
      const close = async () => {
        await staging.close()
        throw new Error('The file cannot be deleted.')
      }
      return { ...staging, close }
    }
  })
  const imported = { rows: 1, created: 1, updated: 0, atomic: true, dryRun: false }
  expectData(t, await csv.post(`/admin/tables/${id}/import`, 'n\n1\n'), imported)
  refuse(name, 13)
  expectError(t, await csv.post(`/admin/tables/${id}/import`, 'n\n13\n'), 409, 'REFUSED_BY_TRIGGER')
})

t.test('a new table that cannot be removed is named, with the first error', async (t) => {
  const { create } = app.tables
  const restore = replace(t, app.tables, {
    create: async (...args) => {
      const table = await create(...args)
      refuse(table.name, FIRST)
      return table
    },
    drop: () => Promise.reject(new Error('The table cannot be dropped.'))
  })
  const response = await csv.post('/admin/tables/from-file?name=half&label=&file=half.csv', FILE)
  restore()
  expectError(t, response, 409, 'IMPORT_STOPPED')
  const { message, hint } = response.json().error
  t.match(message, /A trigger .* The new table 'half' could not be removed\.$/)
  const listed = await latest()
  t.match(listed, { table: 'half', isNewTable: true, file: 'half.csv', state: 'failed' })
  t.ok(listed.storedRows > 0 && listed.storedRows <= FIRST, listed.storedRows)
  t.equal(await totalOf(listed.tableId), listed.storedRows)
  const url = `/admin/tables/${listed.tableId}?drop=true&confirm=true`
  t.match(hint, url)
  dataOf(await admin.delete(url))
})

t.test('an unknown error does not name the new table', async (t) => {
  const restore = replace(t, app.tables, { drop: () => Promise.reject(new Error('The table cannot be dropped.')) })
  interrupt(t, app, 'step', () => {
    throw new Error('broken')
  })
  const response = await csv.post('/admin/tables/from-file?name=broken&label=', FILE)
  restore()
  expectError(t, response, 500, 'INTERNAL_ERROR')
  t.match(await latest(), {
    table: 'broken',
    state: 'failed',
    tableId: null,
    storedRows: 0,
    error: 'The service failed.'
  })
})

t.test(
  'an import whose row cannot be updated is listed as interrupted',
  onlyOnFile('On a cluster, another service may run it for a minute.'),
  async (t) => {
    const { id } = await newTable()
    const { write } = app.database
    interrupt(t, app, 'step', (call) => {
      if (call !== 1) return
      replace(t, app.database, { write: () => Promise.reject(new Error('broken')) })
    })
    expectError(t, await csv.post(`/admin/tables/${id}/import`, FILE), 409, 'IMPORT_STOPPED')
    Object.assign(app.database, { write })
    t.match(await latest(), { state: 'interrupted', storedRows: FIRST, totalRows: ROWS, error: null })
  }
)

t.test('the latest 1,000 imports are listed, and those that run', async (t) => {
  const { id } = await newTable()
  let isListed: unknown
  interrupt(t, app, 'step', async (call) => {
    if (call !== 1) return
    const { id: importId } = await latest()
    run(`WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers LIMIT 1100)
      INSERT INTO _rowhouse_imports SELECT NULL, 1, 'old', 0, NULL, 'csv', 'admin', 'admin', 'done', 1, 1, NULL, 1, 1 FROM numbers`)
    const { name } = await newTable()
    const token = bearer(await issueToken(admin, { tables: [name], actions: ['create'] }))
    dataOf(await client(app, { ...token, 'content-type': 'text/csv' }).post(`/data/${name}/import`, 'n\n1\n'))
    const list = dataOf(await admin.get('/admin/imports'))
    t.equal(list.length, 1001)
    isListed = list.find((entry: { id: number }) => entry.id === importId)
  })
  dataOf(await csv.post(`/admin/tables/${id}/import`, FILE))
  t.match(isListed, { state: 'running', storedRows: FIRST, totalRows: ROWS })
})

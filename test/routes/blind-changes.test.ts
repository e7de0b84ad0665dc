import t, { type Test } from 'tap'
import type { ErrorCode } from '../../schemas/error.ts'
import {
  asAdmin,
  asKey,
  asToken,
  type Client,
  client,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { openServed } from '../served.ts'

/** Changes by callers that may change the records of a table, and may not read them. */
const file = createDatabase(
  t,
  `CREATE TABLE stock (id INTEGER PRIMARY KEY, code TEXT UNIQUE, n INTEGER, cost INTEGER);
   CREATE TABLE loose (k PRIMARY KEY, n INTEGER);`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const stock = (await importTable(admin, 'stock')).id
await importTable(admin, 'loose')
dataOf(await admin.put(`/admin/tables/${stock}`, { fields: [{ name: 'cost', isReadonly: true }] }))
const external = openServed(t, file)

const reset = () => {
  external.exec('DELETE FROM stock; DELETE FROM loose')
  external.exec("INSERT INTO stock VALUES (1, 'pen', 3, 7); INSERT INTO loose VALUES (1, 0)")
}

const writer = await asToken(app, admin, { tables: ['*'], actions: ['create', 'update', 'delete'] })
const reader = await asToken(app, admin)

/** The areas of the API, each with a caller that may not read and one that may. */
const AREAS = [
  { name: 'a token', blind: writer, seeing: reader, record: '/data/stock/records', batch: '/data/_batch' },
  {
    name: 'an admin key',
    blind: await asKey(app, admin, ['records:write']),
    seeing: await asKey(app, admin, ['records:write', 'records:read']),
    record: `/admin/tables/${stock}/data`,
    batch: '/admin/batch'
  }
]

type Send = (caller: Client, pk: string, tag: string) => Promise<TestResponse>

const tagged = ({ headers }: Client, tag: string) => client(app, { ...headers, 'if-match': tag })

/** Returns the changes of one record that compare a tag. */
const comparisonsOf = ({ name, record, batch }: (typeof AREAS)[number]): Readonly<Record<string, Send>> => {
  const inBatch =
    (operation: object): Send =>
    (caller, pk, ifMatch) =>
      caller.post(batch, { operations: [{ table: 'stock', pk, ifMatch, ...operation }] })
  return {
    'an update': (caller, pk, tag) => tagged(caller, tag).put(`${record}/${pk}`, { n: 4 }),
    'a patch': (caller, pk, tag) => tagged(caller, tag).patch(`${record}/${pk}`, { n: 4 }),
    'a delete': (caller, pk, tag) => tagged(caller, tag).delete(`${record}/${pk}`),
    'an update in a batch': inBatch({ op: 'update', values: { n: 4 } }),
    'a delete in a batch': inBatch({ op: 'delete' }),
    'an increment in a batch': inBatch({ op: 'incr', field: 'n' }),
    ...(name === 'a token' && {
      'an increment': (caller, pk, tag) => tagged(caller, tag).post('/data/stock/incr', { pk, field: 'n' }),
      'an increment by key': (caller, pk, tag) => tagged(caller, tag).post(`${record}/${pk}/incr`, { field: 'n' })
    })
  }
}

const stored = () => external.prepare('SELECT * FROM stock').all()

/** Returns all that a response shows but its id. */
const shownIn = ({ statusCode, headers, body }: TestResponse) => [
  statusCode,
  headers.etag,
  body.replace(/"requestId":"[^"]*"/, '')
]

/** Asserts that each request fails with this error and the same response, and changes nothing. */
const refuseAlike = async (
  t: Test,
  [status, code, path]: readonly [status: number, code: ErrorCode, path?: string],
  requests: readonly (() => Promise<TestResponse>)[]
) => {
  const before = stored()
  const shown: unknown[] = []
  for (const send of requests) {
    const response = await send()
    expectError(t, response, status, code, path)
    shown.push(shownIn(response))
  }
  for (const one of shown) t.strictSame(one, shown[0])
  t.strictSame(stored(), before)
}

for (const area of AREAS) {
  const { name, blind, seeing, record, batch } = area

  for (const [change, send] of Object.entries(comparisonsOf(area)))
    t.test(`${change} of ${name} that may not read gets 412 for each tag`, async (t) => {
      reset()
      const tag = String((await seeing.get(`${record}/1`)).headers.etag)
      await refuseAlike(
        t,
        [412, 'PRECONDITION_FAILED'],
        [
          () => send(blind, '1', tag),
          () => send(blind, '1', `"other", ${tag}`),
          () => send(blind, '1', '"other"'),
          () => send(blind, '99', tag)
        ]
      )
      t.equal((await send(blind, '1', tag)).headers.etag, undefined)
      expectError(t, await send(seeing, '1', '"other"'), 412, 'PRECONDITION_FAILED')
      t.equal((await send(seeing, '1', tag)).statusCode, 200, 'with the right to read')
      reset()
      t.equal((await send(blind, '1', '*')).statusCode, 200, '* compares nothing')
    })

  t.test(`a read-only field from ${name} that may not read gets 400 for each value`, async (t) => {
    reset()
    const values = [7, 8].map((cost) => ({ n: 4, cost }))
    const update = (caller: Client, pk: string, values: object) =>
      caller.post(batch, { operations: [{ op: 'update', table: 'stock', pk, values }] })
    for (const pk of ['1', '99']) {
      const one = values.flatMap((body) => [
        () => blind.put(`${record}/${pk}`, body),
        () => blind.patch(`${record}/${pk}`, body)
      ])
      await refuseAlike(t, [400, 'VALIDATION_FAILED', '/cost'], one)
      const batches = values.map((body) => () => update(blind, pk, body))
      await refuseAlike(t, [400, 'VALIDATION_FAILED', '/operations/0'], batches)
    }
    const upserts = values.map((body) => () => blind.post(`${record}?upsert=code`, { code: 'pen', ...body }))
    await refuseAlike(t, [400, 'VALIDATION_FAILED', '/cost'], upserts)
    t.equal((await blind.put(`${record}/1`, { n: 4 })).statusCode, 200, 'without the field')
    t.equal((await seeing.put(`${record}/1`, values[0])).statusCode, 200, 'with the right to read')
    t.equal((await update(seeing, '1', values[0] as object)).statusCode, 200)
    expectError(t, await seeing.put(`${record}/1`, values[1]), 400, 'VALIDATION_FAILED', '/cost')
    t.equal((await blind.post(`${record}?upsert=code`, { code: 'pen', n: 5 })).statusCode, 200)
  })
}

t.test('an import by a token that may not read gets 400 for each value of a read-only field', async (t) => {
  reset()
  const send = (csv: string) =>
    client(app, { ...writer.headers, 'content-type': 'text/csv' }).post('/data/stock/import?mode=upsert&on=code', csv)
  await refuseAlike(
    t,
    [400, 'IMPORT_FAILED'],
    [7, 8].map((cost) => () => send(`code,n,cost\npen,4,${cost}\n`))
  )
  t.match(dataOf(await send('code,n\npen,4\n')), { updated: 1 })
})

t.test('a change by a filter compares values, so it needs the right to read', async (t) => {
  reset()
  for (const { blind, seeing, batch } of AREAS)
    for (const change of [{ op: 'update', values: { n: 4 } }, { op: 'delete' }]) {
      const send = (caller: Client, cost: number) => {
        const filter = { where: { cost: { eq: cost } } }
        return caller.post(batch, { operations: [{ table: 'stock', ...change, filter, maxAffected: 1 }] })
      }
      const refused = await send(blind, 7)
      t.equal(refused.statusCode, 403)
      t.strictSame(shownIn(await send(blind, 8)), shownIn(refused))
      t.equal((await send(seeing, 7)).statusCode, 200)
      reset()
    }
})

t.test('a key without a type cannot be guessed by an update', async (t) => {
  reset()
  for (const k of [1, '1'])
    expectError(t, await writer.put('/data/loose/records/1', { k, n: 1 }), 400, 'VALIDATION_FAILED', '/k')
  t.equal((await writer.put('/data/loose/records/1', { n: 1 })).statusCode, 200)
  t.equal((await reader.put('/data/loose/records/1', { k: 1, n: 2 })).statusCode, 200)
})

t.test('the right counts at each request, not at the first one', async (t) => {
  reset()
  const permissions = (...actions: string[]) => ({ tables: ['stock'], actions })
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'app', permissions: permissions('read', 'update') }))
  const caller = client(app, { authorization: `Bearer ${issued.token}` })
  const url = '/data/stock/records/1'
  const tag = String((await caller.get(url)).headers.etag)
  t.equal((await tagged(caller, tag).put(url, { n: 3 })).statusCode, 200)
  const change = (...actions: string[]) =>
    admin.put(`/admin/tokens/${issued.id}`, { permissions: permissions(...actions) })
  dataOf(await change('update'))
  expectError(t, await tagged(caller, tag).put(url, { n: 3 }), 412, 'PRECONDITION_FAILED')
  dataOf(await change('read', 'update'))
  t.equal((await tagged(caller, tag).put(url, { n: 3 })).statusCode, 200)
})

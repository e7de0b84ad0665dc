import t from 'tap'
import type { Table } from '../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  type Client,
  createDatabase,
  createTable,
  dataOf,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { scaled } from '../scale.ts'
import { CANARY, expectSafe, expectSame, expectUnchanged, openWatch } from './injection.ts'
import { payloads, samplePayloads } from './payloads.ts'

const encode = encodeURIComponent

/** Fewer payloads for exports, since each filtered export starts a thread. */
const exported = samplePayloads(scaled(payloads.length / 40))
const chosen = samplePayloads(scaled(payloads.length))

const conditionOn = (text: string) => ({
  gte: text,
  contains: text,
  startsWith: text,
  endsWith: text
})

/** Requests that read or must be refused, with the payload as a name, a key, an order or a search. */
const readRequests = (admin: Client, token: Client) => {
  const batch = (...operations: readonly object[]) => token.post('/data/_batch', { operations })
  return {
    'a key of a path': (p) => token.get(`/data/notes/records/${encode(p)}`),
    'a key to delete': (p) => token.delete(`/data/texts/records/${encode(`none ${p}`)}`),
    'a table of a path': (p) => token.get(`/data/${encode(p)}/records/1`),
    'a table to add a field to': (p) =>
      token.post(`/data/_schema/tables/${encode(p)}/fields`, { field: { name: 'x', jsonType: 'string' } }),
    'an id': (p) => admin.get(`/admin/tables/${encode(p)}`),
    'an order': (p) => token.get(`/data/notes?order=${encode(p)}`),
    'a second order': (p) => token.get(`/data/notes?order=${encode(`-text,${p}`)}`),
    'a search': (p) => token.get(`/data/notes?q=${encode(p.slice(0, 255))}`),
    'a page': (p) => token.get(`/data/notes?page=${encode(p)}`),
    'fields of a list': (p) => token.get(`/data/notes?fields=${encode(p)}`),
    'a filter as text': (p) => token.get(`/data/notes?filter=${encode(p)}`),
    'a cursor of a list': (p) => token.get(`/data/notes?cursor=${encode(p)}`),
    'a value of a filter': (p) =>
      token.get(`/data/notes?total=false&filter=${encode(JSON.stringify({ where: { text: { ne: p } } }))}`),
    'values of a query': (p) => token.post('/data/notes/query', { filter: { where: { text: conditionOn(p) } } }),
    'a list of values': (p) =>
      token.post('/data/notes/query', { filter: { where: { text: { notIn: [p, `${p}x`] } } } }),
    'an object as a value': (p) =>
      token.post('/data/notes/query', { filter: { where: { extra: { ne: { [p]: p } } } } }),
    'a field of a filter': (p) => token.post('/data/notes/query', { filter: { where: { [`${p} `]: { eq: p } } } }),
    'an operator': (p) => token.post('/data/notes/query', { filter: { where: { text: { [`${p} `]: p } } } }),
    'a part of a filter': (p) => token.post('/data/notes/query', { filter: { [`${p} `]: [] } }),
    'a field of a query': (p) => token.post('/data/notes/query', { fields: [p] }),
    'an order of a query': (p) => token.post('/data/notes/query', { order: `text,${p}`, cursor: '' }),
    'a cursor of a query': (p) => token.post('/data/notes/query', { cursor: p }),
    'a search in a query': (p) => token.post('/data/notes/query', { q: p.slice(0, 255), total: true }),
    'an unknown parameter': (p) => token.get(`/data/notes?${encode(p)}=1`),
    'a field of a record': (p) => token.post('/data/notes/records', { [`${p} `]: 1 }),
    'a field to change': (p) => token.put('/data/notes/records/1', { [`${p} `]: 1 }),
    'a field to increment': (p) => token.post('/data/notes/incr', { pk: 1, field: p }),
    'a key to increment': (p) => token.post('/data/notes/incr', { pk: `none ${p}`, field: 'n' }),
    'a count': (p) => token.post('/data/notes/incr', { pk: 1, field: 'text', count: p }),
    'an integer': (p) => token.post('/data/notes/records', { n: `${p} ` }),
    'a table to create': (p) =>
      admin.post('/admin/tables', { name: `${p} `, label: '', fields: [{ name: 'a', jsonType: 'string' }] }),
    'a field to create': (p) =>
      admin.post('/admin/tables', { name: 'never', label: '', fields: [{ name: `${p} `, jsonType: 'string' }] }),
    'a type': (p) => admin.post('/admin/tables', { name: 'never', label: '', fields: [{ name: 'a', jsonType: p }] }),
    'a field to add': (p) =>
      token.post('/data/_schema/tables/notes/fields', { field: { name: `${p} `, jsonType: 'string' } }),
    'a table to import': (p) => admin.post('/admin/tables/import', { name: `none ${p}` }),
    'a table of a batch': (p) => batch({ op: 'delete', table: `none ${p}`, pk: '1' }),
    'a key of a batch': (p) => batch({ op: 'delete', table: 'texts', pk: `none ${p}` }),
    'a field of a batch': (p) => batch({ op: 'incr', table: 'notes', pk: 1, field: p }),
    'a count of a batch': (p) => batch({ op: 'incr', table: 'notes', pk: 1, field: 'n', count: `${p} ` }),
    'fields of a batch': (p) => batch({ op: 'upsert', table: 'texts', on: [p], values: { key: 'a' } }),
    'a name of a value': (p) => batch({ op: 'update', table: 'notes', pk: 1, values: { [`${p} `]: 1 } }),
    'a field of a filter in a batch': (p) =>
      batch({ op: 'delete', table: 'texts', filter: { where: { [`${p} `]: { eq: p } } }, maxAffected: 1 }),
    'a value of a filter in a batch': (p) =>
      batch({ op: 'delete', table: 'texts', filter: { where: { key: { eq: `none ${p}` } } }, maxAffected: 1 }),
    'a field of a result': (p) =>
      batch(
        { op: 'upsert', table: 'texts', values: { key: 'a' } },
        { op: 'upsert', table: 'texts', values: { key: { $result: 0, field: `${p} ` } } }
      ),
    'a position of a result': (p) => batch({ op: 'delete', table: 'texts', pk: { $result: p, field: 'key' } }),
    'fields of an upsert': (p) => token.post(`/data/texts/records?upsert=${encode(p)}`, { key: 'a' }),
    'an action': (p) => admin.post('/admin/tokens', { name: 'a', permissions: { tables: [], actions: [p] } })
  } satisfies Record<string, (payload: string) => Promise<TestResponse>>
}

/** Pairs of a request that stores the payload and a function that reads it back. */
const writeRequests = (table: Table, admin: Client, token: Client) => {
  const list = async (url: string) => dataOf(await admin.get(url))
  const last = async (url: string) => (await list(url)).at(-1)
  const textKey = async (payload: string) => dataOf(await token.get(`/data/texts/records/${encode(payload)}`)).key
  return {
    'a text': [
      (p: string) => token.post('/data/notes/records', { text: p }),
      async (response: TestResponse) => dataOf(await token.get(`/data/notes/records/${response.json().data.id}`)).text
    ],
    'a changed text': [
      (p: string) => token.put('/data/notes/records/1', { text: p }),
      async () => dataOf(await token.get('/data/notes/records/1')).text
    ],
    JSON: [
      (p: string) => token.put('/data/notes/records/1', { extra: { [p]: p } }),
      async (_: TestResponse, p: string) =>
        Object.getOwnPropertyDescriptor(dataOf(await token.get('/data/notes/records/1')).extra, p)?.value
    ],
    'a text that a query finds': [
      (p: string) => token.post('/data/notes/records', { text: p }),
      async (_: TestResponse, p: string) => {
        const where = { text: { eq: p, in: [p], ...(p !== '' && conditionOn(p)) } }
        const body = { filter: { where }, fields: ['text'], size: 1 }
        return dataOf(await admin.post(`/admin/tables/${table.id}/query`, body)).rows[0]?.text
      }
    ],
    'a key': [(p: string) => token.post('/data/texts/records', { key: p }), (_: TestResponse, p: string) => textKey(p)],
    'a value of a batch': [
      (p: string) =>
        token.post('/data/_batch', { operations: [{ op: 'create', table: 'notes', values: { text: p } }] }),
      async (response: TestResponse) => response.json().data.results[0].text
    ],
    'a value of an upsert': [
      (p: string) => token.post('/data/texts/records?upsert=key', { key: `upsert ${p}` }),
      async (_: TestResponse, p: string) => (await textKey(`upsert ${p}`)).slice('upsert '.length)
    ],
    'a result of a batch': [
      (p: string) =>
        token.post('/data/_batch', {
          operations: [
            { op: 'create', table: 'notes', values: { text: p } },
            { op: 'create', table: 'notes', values: { text: { $result: 0, field: 'text' } } }
          ]
        }),
      async (response: TestResponse) => response.json().data.results[1].text
    ],
    'a label': [
      (p: string) => admin.put(`/admin/tables/${table.id}`, { label: p }),
      async () => (await list(`/admin/tables/${table.id}`)).label
    ],
    'a note': [
      (p: string) => admin.put(`/admin/tables/${table.id}`, { note: p }),
      async () => (await list(`/admin/tables/${table.id}`)).note
    ],
    'a label of a field': [
      (p: string) => admin.put(`/admin/tables/${table.id}`, { fields: [{ name: 'text', label: p }] }),
      async () => (await list(`/admin/tables/${table.id}`)).fields[1].label
    ],
    'a name of a token': [
      (p: string) => admin.put('/admin/tokens/1', { name: p }),
      async () => (await list('/admin/tokens'))[0].name
    ],
    'a permission': [
      (p: string) => admin.put('/admin/tokens/2', { permissions: { tables: [p], actions: ['read'] } }),
      async () => (await list('/admin/tokens'))[1].permissions.tables[0]
    ],
    'a nickname': [
      (p: string) => admin.put('/admin/admins/1', { nickname: p }),
      async () => (await list('/admin/admins'))[0].nickname
    ],
    'a name of an administrator': [
      (p: string) => admin.post('/admin/admins', { name: p, nickname: '', password: 'long enough' }),
      async () => (await last('/admin/admins')).name
    ]
  } as const
}

t.test('there are more than 2,000 payloads', async (t) => t.ok(payloads.length >= 2000, String(payloads.length)))

t.test('a payload in a request is only ever a name or a value', async (t) => {
  const file = createDatabase(t, CANARY)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  const fields = ['text:string', 'n:integer', 'extra:object'].map((field) => field.split(':'))
  const table = await createTable(admin, {
    name: 'notes',
    fields: fields.map(([name, jsonType]) => ({ name, jsonType }) as Table['fields'][number])
  })
  await createTable(admin, { name: 'texts', fields: [{ name: 'key', jsonType: 'string', isPrimary: true }] })
  await asToken(app, admin)
  dataOf(await token.post('/data/notes/records', { text: 'a' }))
  const watch = openWatch(t, file)
  const before = watch.schema()
  const counts = { accepted: 0, refused: 0 }
  const count = (isAccepted: boolean) => {
    counts[isAccepted ? 'accepted' : 'refused'] += 1
    return isAccepted
  }
  const reading = Object.entries(readRequests(admin, token))
  const writing = Object.entries(writeRequests(table, admin, token))
  for (const payload of chosen) {
    await Promise.all([
      ...reading.map(async ([slot, call]) => count(expectSafe(t, await call(payload), payload, slot))),
      ...writing.map(async ([slot, [call, find]]) => {
        const response = await call(payload)
        if (count(expectSafe(t, response, payload, slot))) expectSame(t, await find(response, payload), payload, slot)
      })
    ])
    expectUnchanged(t, watch, before, payload)
  }
  for (const payload of exported) {
    const response = await admin.get(`/admin/tables/${table.id}/export?q=${encode(payload)}`)
    if (response.statusCode !== 200) t.fail(`an export: ${response.statusCode}`, { payload, body: response.body })
    expectUnchanged(t, watch, before, payload)
  }
  t.comment(`${chosen.length} payloads of ${payloads.length}: ${JSON.stringify(counts)}`)
  t.ok(counts.accepted > chosen.length * 10 && counts.refused > chosen.length * 10)
})

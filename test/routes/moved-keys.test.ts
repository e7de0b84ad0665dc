import t, { type Test } from 'tap'
import type { ErrorCode } from '../../schemas/error.ts'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { openServed } from '../served.ts'

const COLUMNS = "owner TEXT, code TEXT UNIQUE, n INTEGER DEFAULT 0, state TEXT DEFAULT ''"

/** The end of the declaration of each table, and how a trigger makes another key of one. */
const TABLES = {
  rowids: { declaration: `(id INTEGER PRIMARY KEY, ${COLUMNS})`, otherKey: 'new.id + 1000' },
  lower: { declaration: `(id INTEGER PRIMARY KEY, ${COLUMNS})`, otherKey: '-new.id' },
  keyed: { declaration: `(id INTEGER PRIMARY KEY, ${COLUMNS}) WITHOUT ROWID`, otherKey: 'new.id + 1000' },
  texts: { declaration: `(id TEXT PRIMARY KEY, ${COLUMNS})`, otherKey: "new.id || 'x'" }
} as const
type Name = keyof typeof TABLES
const names = Object.keys(TABLES) as Name[]

/** For each state of a record, or number in it, what a trigger does with the record. All of it takes the record out of the rule. */
const STATES = { moved: 100, recoded: 101, deleted: 102 } as const
type State = keyof typeof STATES
const states = Object.keys(STATES) as State[]

const actionOf = (name: Name, state: State) => {
  if (state === 'deleted') return `DELETE FROM ${name} WHERE id = new.id`
  const code = state === 'recoded' ? ", code = code || 'x'" : ''
  return `UPDATE ${name} SET id = ${TABLES[name].otherKey}, owner = 'b'${code} WHERE id = new.id`
}

const createSql = (name: Name) => {
  const triggers = states.flatMap((state) =>
    ['INSERT', 'UPDATE OF n, state'].map(
      (event) => `CREATE TRIGGER "${name} ${event} ${state}" AFTER ${event} ON ${name}
        WHEN new.state = '${state}' OR new.n = ${STATES[state]} BEGIN ${actionOf(name, state)}; END;`
    )
  )
  return `CREATE TABLE ${name} ${TABLES[name].declaration}; ${triggers.join('\n')}`
}

/** A change of the record 2 is ignored. */
const LOCKS = `CREATE TABLE locks (id INTEGER PRIMARY KEY, ${COLUMNS});
  CREATE TRIGGER locked BEFORE UPDATE ON locks WHEN old.id = 2 BEGIN SELECT RAISE(IGNORE); END;
  CREATE TRIGGER moved AFTER UPDATE ON locks WHEN new.state = 'moved'
    BEGIN UPDATE locks SET id = id + 1000, owner = 'b' WHERE id = new.id; END;`

const file = createDatabase(t, names.map(createSql).join('\n') + LOCKS)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
for (const name of [...names, 'locks']) await importTable(admin, name)
const rows = { where: { owner: { eq: { $claim: 'owner' } } } }
const grants = [{ tables: ['*'], actions: ['read', 'create', 'update', 'delete'], rows }]
dataOf(await admin.post('/admin/roles', { name: 'owner', grants }))
const issued = dataOf(await admin.post('/admin/tokens', { name: 'Ann', role: 'owner', claims: { owner: 'a' } }))
const token = client(app, bearer(issued.token))
const csv = client(app, { ...token.headers, 'content-type': 'text/csv' })
const external = openServed(t, file)

const stored = (table: string) => external.prepare(`SELECT * FROM ${table} ORDER BY code`).all()

const reset = (table: string) => {
  external.exec(`DELETE FROM ${table}`)
  external.exec(`INSERT INTO ${table} (id, owner, code) VALUES (1, 'a', 'one'), (2, 'a', 'two'), (3, 'b', 'three')`)
}

type Send = (table: string, state: string) => Promise<TestResponse>

const batch = (operation: object) => token.post('/data/_batch', { operations: [operation] })
const where = { code: { in: ['one', 'two'] } }

/** The changes of stored records, each as one that sets the state. */
const CHANGES: Readonly<Record<string, Send>> = {
  'an update': (table, state) => token.put(`/data/${table}/records/1`, { state }),
  'an update that returns the record': (table, state) => token.put(`/data/${table}/records/1?return=record`, { state }),
  'an update in a batch': (table, state) => batch({ op: 'update', table, pk: '1', values: { state } }),
  'an update by a filter': (table, state) =>
    batch({ op: 'update', table, filter: { where }, maxAffected: 2, values: { state } }),
  'an update by a filter, of one record': (table, state) =>
    batch({ op: 'update', table, filter: { where: { code: { eq: 'two' } } }, maxAffected: 1, values: { state } }),
  'an upsert by the key': (table, state) =>
    token.post(`/data/${table}/records?upsert=id`, { id: keyIn(table, 1), owner: 'a', state }),
  'an upsert by another field': (table, state) =>
    token.post(`/data/${table}/records?upsert=code`, { id: keyIn(table, 1), code: 'one', owner: 'a', state }),
  'an upsert in a batch': (table, state) =>
    batch({ op: 'upsert', table, on: ['code'], values: { id: keyIn(table, 1), code: 'one', owner: 'a', state } }),
  'an upsert that creates': (table, state) =>
    token.post(`/data/${table}/records?upsert=code`, { id: keyIn(table, 7), code: 'new', owner: 'a', state }),
  'a create': (table, state) => token.post(`/data/${table}/records`, { id: keyIn(table, 7), owner: 'a', state }),
  'a create that may be ignored': (table, state) =>
    batch({ op: 'create', table, onConflict: 'ignore', values: { id: keyIn(table, 7), owner: 'a', state } }),
  'an import': (table, state) => csv.post(`/data/${table}/import`, `id,owner,state\n7,a,${state}\n8,a,\n`)
}

/** A record that a trigger takes away must not be created again. */
const UPSERT_IMPORTS: typeof CHANGES = {
  'an import of one record in upsert mode': (table, state) =>
    csv.post(`/data/${table}/import?mode=upsert`, `id,owner,state\n1,a,${state}\n`),
  'an import in upsert mode': (table, state) =>
    csv.post(`/data/${table}/import?mode=upsert`, `id,owner,state\n1,a,${state}\n8,a,\n`),
  'an import in upsert mode by another field': (table, state) =>
    csv.post(`/data/${table}/import?mode=upsert&on=code`, `id,code,owner,state\n1,one,a,${state}\n8,new,a,\n`),
  'an atomic import in upsert mode': (table, state) =>
    csv.post(`/data/${table}/import?mode=upsert&atomic=true`, `id,owner,state\n1,a,${state}\n`)
}

/** With a key that SQLite generates. */
const GENERATED: typeof CHANGES = {
  'a create without a key': (table, state) => token.post(`/data/${table}/records`, { owner: 'a', state }),
  'an upsert without a key': (table, state) =>
    token.post(`/data/${table}/records?upsert=code`, { code: 'new', owner: 'a', state }),
  'an import without keys': (table, state) => csv.post(`/data/${table}/import`, `owner,state\na,${state}\na,\n`)
}

const keyIn = (table: string, key: number) => (table === 'texts' ? String(key) : key)

const OUTSIDE = [403, 'ROW_NOT_ALLOWED'] as const
const TAKEN = [409, 'UNIQUE_VIOLATION'] as const

const refuse = async (
  t: Test,
  table: string,
  [status, code]: readonly [number, ErrorCode],
  send: () => Promise<TestResponse>
) => {
  reset(table)
  const before = stored(table)
  expectError(t, await send(), status, code)
  t.strictSame(stored(table), before)
}

const accept = async (t: Test, table: string, send: () => Promise<TestResponse>) => {
  reset(table)
  const response = await send()
  t.equal(response.statusCode, 200, response.body)
}

for (const table of names) {
  const changes = table === 'keyed' || table === 'texts' ? CHANGES : { ...CHANGES, ...GENERATED }
  for (const [change, send] of Object.entries(changes))
    t.test(`${change} in '${table}' cannot move a record out of the rule by a trigger`, async (t) => {
      for (const state of states) await refuse(t, table, OUTSIDE, () => send(table, state))
      await accept(t, table, () => send(table, ''))
    })

  for (const [change, send] of Object.entries(UPSERT_IMPORTS))
    t.test(`${change} in '${table}' cannot move a record out of the rule by a trigger`, async (t) => {
      for (const state of states) {
        // Of several records, the new one is missing, too.
        const isMissing = change === 'an import in upsert mode' || (change.includes('field') && state !== 'moved')
        await refuse(t, table, isMissing ? TAKEN : OUTSIDE, () => send(table, state))
      }
      await accept(t, table, () => send(table, ''))
    })

  t.test(`an increment in '${table}' cannot move a record out of the rule by a trigger`, async (t) => {
    const increments = (count: number) => [
      () => token.post(`/data/${table}/incr`, { pk: '1', field: 'n', count }),
      () => token.post(`/data/${table}/records/1/incr?return=record`, { field: 'n', count }),
      () => batch({ op: 'incr', table, pk: '1', field: 'n', count })
    ]
    for (const n of Object.values(STATES)) for (const send of increments(n)) await refuse(t, table, OUTSIDE, send)
    for (const send of increments(1)) await accept(t, table, send)
  })
}

t.test('an import cannot move a record out of the rule, and create it instead of one that is ignored', async (t) => {
  const send = (state: string) => csv.post('/data/locks/import?mode=upsert', `id,owner,state\n1,a,${state}\n2,a,new\n`)
  await refuse(t, 'locks', TAKEN, () => send('moved'))
  await refuse(t, 'locks', TAKEN, () => send('new'))
  external.exec('DROP TRIGGER locked')
  await refuse(t, 'locks', OUTSIDE, () => send('moved'))
  await accept(t, 'locks', () => send('new'))
})

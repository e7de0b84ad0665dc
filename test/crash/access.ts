import type { TableIndex } from '../../schemas/table-index.ts'
import { PASSWORD } from '../fixtures.ts'
import { IMPORTED, partsOfFile, stateOfFile } from './files.ts'
import { type Call, createHttp, dataOf, type TestResponse } from './http.ts'
import { ABSENT, type Ledger, type State } from './ledger.ts'

/** The table that the clients write to, and the key of the record that all clients increment. */
export const RECORDS = 'records'
export const SHARED = 'shared'

/** The indexes of the first table. */
export const INDEXES = '/admin/tables/1/indexes'

/** The state of everything that has no counter. */
export const PRESENT: State = { value: 1, counter: 0 }

/** Returns the text of a record with this value: up to a page, so that a torn write is visible. */
export const textOf = (value: number) => `${value},`.repeat(1 + ((value * 7919) % 400))

/** A session and a token. Both were acknowledged, so both must be valid after every crash. */
interface Credentials {
  readonly cookie: string
  readonly token: string
}

/** An index of the records that a client creates and deletes. Its name follows from its fields. */
export interface Index {
  readonly name: string
  readonly fields: readonly string[]
}

export interface Access extends Credentials {
  readonly indexes: readonly Index[]
}

/** Returns a function that sends requests. Those under /admin use the session, and those under /data the token. */
export const connect = (address: string, { token, cookie }: Credentials) =>
  createHttp(address, { authorization: `Bearer ${token}`, cookie })

const TABLE = {
  name: RECORDS,
  label: '',
  fields: [
    { name: 'key', jsonType: 'string', isPrimary: true },
    { name: 'value', jsonType: 'integer' },
    { name: 'text', jsonType: 'string' },
    { name: 'counter', jsonType: 'integer' }
  ]
}

/** Returns the cookie of a new session. */
export const logIn = async (address: string) => {
  const response = await createHttp(address)('POST', '/auth/login', { name: 'admin', password: PASSWORD })
  dataOf(response)
  return String(response.headers['set-cookie']?.[0]?.split(';')[0])
}

const INDEXED = [['value'], ['counter'], ['text', 'value'], ['counter', 'key']]

/** The table of large imports. */
const IMPORTED_TABLE = {
  name: IMPORTED,
  label: '',
  fields: [
    { name: 'id', jsonType: 'integer', isPrimary: true },
    { name: 'file', jsonType: 'integer' },
    { name: 'value', jsonType: 'integer' }
  ]
}

/** Creates and deletes each index once, for its name. */
const findIndexes = async (call: Call) => {
  const indexes: Index[] = []
  for (const fields of INDEXED) {
    const { name } = dataOf(await call('POST', INDEXES, { fields }))
    dataOf(await call('DELETE', `${INDEXES}/${name}`))
    indexes.push({ name, fields })
  }
  return indexes
}

/** Logs in, issues a token, and creates the tables and the shared record. */
export const prepare = async (address: string, ledger: Ledger): Promise<Access> => {
  const cookie = await logIn(address)
  const asAdmin = createHttp(address, { cookie })
  for (const table of [TABLE, IMPORTED_TABLE]) {
    dataOf(await asAdmin('POST', '/admin/tables', table))
    ledger.record([{ key: table.name, change: { value: 1 } }], true)
  }
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { token } = dataOf(await asAdmin('POST', '/admin/tokens', { name: 'crash', permissions }))
  const shared = { key: SHARED, value: 0, text: textOf(0), counter: 0 }
  const call = connect(address, { cookie, token })
  dataOf(await call('POST', `/data/${RECORDS}/records`, shared))
  ledger.record([{ key: SHARED, change: { value: 0 } }], true)
  return { cookie, token, indexes: await findIndexes(call) }
}

export interface StoredRecord {
  readonly key: string
  readonly value: number
  readonly text: string
  readonly counter: number
}

/** Returns the state of a record. The value is NaN, which no client writes, if the text belongs to another value. */
export const toState = ({ value, text, counter }: StoredRecord): State => ({
  value: text === textOf(value) ? value : Number.NaN,
  counter
})

/** The state in a response. Without a response there is no `state`. */
interface Found {
  readonly response: TestResponse
  readonly state?: State
}

/** Reads a record through the API. @throws when the read fails */
export const readRecord = async (call: Call, key: string): Promise<Found> => {
  const response = await call('GET', `/data/${RECORDS}/records/${key}`)
  if (response.status === 0) return { response }
  return { response, state: response.status === 404 ? ABSENT : toState(dataOf(response)) }
}

/** Returns the names of the indexes that clients created. @throws when the read fails */
export const namesOfIndexes = (response: TestResponse): readonly string[] =>
  dataOf(response)
    .filter(({ isOurs }: TableIndex) => isOurs)
    .map(({ name }: TableIndex) => name)

/** Reads whether an index exists, through the API. @throws when the read fails */
export const readIndex = async (call: Call, name: string): Promise<Found> => {
  const response = await call('GET', INDEXES)
  if (response.status === 0) return { response }
  return { response, state: namesOfIndexes(response).includes(name) ? PRESENT : ABSENT }
}

/** Reads which records of a large file are stored, through the API. @throws when the read fails */
export const readFile = async (call: Call, key: string): Promise<Found> => {
  const response = await call('POST', `/data/${IMPORTED}/aggregate`, partsOfFile(key))
  if (response.status === 0) return { response }
  const { rows } = dataOf(response)
  return { response, state: rows.length === 0 ? ABSENT : stateOfFile(rows) }
}

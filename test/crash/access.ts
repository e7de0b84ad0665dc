import { PASSWORD } from '../helpers.ts'
import { createHttp, dataOf, type TestResponse } from './http.ts'
import { ABSENT, type Ledger, type State } from './ledger.ts'

/** The table that the clients write to, and the key of the record that all clients increment. */
export const RECORDS = 'records'
export const SHARED = 'shared'

/** Returns the text of a record with this value: up to a page, so that a torn write is visible. */
export const textOf = (value: number) => `${value},`.repeat(1 + ((value * 7919) % 400))

/** A session and a token. Both were acknowledged, so both must be valid after every crash. */
export interface Access {
  readonly cookie: string
  readonly token: string
}

export const connect = (address: string, { token }: Access) => createHttp(address, { authorization: `Bearer ${token}` })

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

/** Logs in, issues a token, and creates the table and the shared record. */
export const prepare = async (address: string, ledger: Ledger): Promise<Access> => {
  const cookie = await logIn(address)
  const asAdmin = createHttp(address, { cookie })
  dataOf(await asAdmin('POST', '/admin/tables', TABLE))
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { token } = dataOf(await asAdmin('POST', '/admin/tokens', { name: 'crash', permissions }))
  const shared = { key: SHARED, value: 0, text: textOf(0), counter: 0 }
  dataOf(await connect(address, { cookie, token })('POST', `/data/${RECORDS}/records`, shared))
  ledger.record(RECORDS, { value: 1 }, true)
  ledger.record(SHARED, { value: 0 }, true)
  return { cookie, token }
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

/** Reads a record through the API. Without a response there is no `state`. @throws when the read fails */
export const readRecord = async (
  call: ReturnType<typeof connect>,
  key: string
): Promise<{ response: TestResponse; state?: State }> => {
  const response = await call('GET', `/data/${RECORDS}/records/${key}`)
  if (response.status === 0) return { response }
  return { response, state: response.status === 404 ? ABSENT : toState(dataOf(response)) }
}

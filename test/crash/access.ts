import { PASSWORD } from '../helpers.ts'
import { createCaller, dataOf, type TestResponse } from './caller.ts'
import { ABSENT, type Ledger, type Seen } from './ledger.ts'

/** The table that the clients write to, and its record that all of them increment. */
export const RECORDS = 'records'
export const SHARED = 'shared'

/** What a record of this value holds besides: up to a page of text, so that a torn write would show. */
export const textOf = (value: number) => `${value},`.repeat(1 + ((value * 7919) % 400))

/** A session and a token: as they were acknowledged, they have to open the service after every crash. */
export interface Access {
  readonly cookie: string
  readonly token: string
}

export const callAs = (address: string, { token }: Access) =>
  createCaller(address, { authorization: `Bearer ${token}` })

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

const logIn = async (address: string) => {
  const answer = await createCaller(address)('POST', '/auth/login', { name: 'admin', password: PASSWORD })
  dataOf(answer)
  return String(answer.headers['set-cookie']?.[0]?.split(';')[0])
}

/** Logs in, issues a token, and makes what the clients write to. */
export const prepare = async (address: string, ledger: Ledger): Promise<Access> => {
  const cookie = await logIn(address)
  const asAdmin = createCaller(address, { cookie })
  dataOf(await asAdmin('POST', '/admin/tables', TABLE))
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { token } = dataOf(await asAdmin('POST', '/admin/tokens', { name: 'crash', permissions }))
  const shared = { key: SHARED, value: 0, text: textOf(0), counter: 0 }
  dataOf(await callAs(address, { cookie, token })('POST', `/data/${RECORDS}/records`, shared))
  ledger.note(RECORDS, { value: 1 }, true)
  ledger.note(SHARED, { value: 0 }, true)
  return { cookie, token }
}

export interface StoredRecord {
  readonly key: string
  readonly value: number
  readonly text: string
  readonly counter: number
}

/** A record that is not of one piece has a value that no client wrote. */
export const toSeen = ({ value, text, counter }: StoredRecord): Seen => ({
  value: text === textOf(value) ? value : Number.NaN,
  counter
})

/** A record through the API. Nothing is seen where the service is gone. @throws when the read is refused */
export const readRecord = async (
  call: ReturnType<typeof callAs>,
  key: string
): Promise<{ answer: TestResponse; seen?: Seen }> => {
  const answer = await call('GET', `/data/${RECORDS}/records/${key}`)
  if (answer.status === 0) return { answer }
  return { answer, seen: answer.status === 404 ? ABSENT : toSeen(dataOf(answer)) }
}

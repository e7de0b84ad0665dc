import type { Test } from 'tap'
import type { Table } from '../../schemas/table.ts'
import { createDatabase, PASSWORD } from '../helpers.ts'
import { type Service, startService } from '../service-process.ts'
import { type Call, createCaller, type Reply, type Sent } from './caller.ts'
import type { Operation } from './document.ts'

/** Tables as other programs make them: odd names, every kind of key, and rules that refuse values. */
const ADOPTED = `
  CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, r REAL, b BLOB, d DATETIME, x, ok BOOLEAN);
  CREATE TABLE "odd ""name"", ü/%" ("a b" TEXT PRIMARY KEY, "" INTEGER, "ORDER" TEXT, "__proto__" TEXT);
  CREATE TABLE pairs (a INTEGER, b TEXT, n NUMERIC, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE TABLE keyless (a TEXT, b INTEGER UNIQUE);
  CREATE TABLE ruled (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 100), plain INTEGER REFERENCES plain);
  CREATE TABLE summed (id INTEGER PRIMARY KEY, a INTEGER, twice INTEGER GENERATED ALWAYS AS (a * 2)) STRICT;
  CREATE TABLE watched (id INTEGER PRIMARY KEY, a TEXT);
  CREATE TRIGGER watching BEFORE INSERT ON watched WHEN new.a = 'a' BEGIN SELECT RAISE(ABORT, 'no'); END;
  CREATE VIEW seen AS SELECT * FROM plain;
  INSERT INTO plain VALUES (1, 'one', 1, 1.5, x'00ff', '2020-01-01', 'x', 1), (2, NULL, 9223372036854775807, 9e999, 'text', 3, 4, 7);
  INSERT INTO "odd ""name"", ü/%" VALUES ('a,b/c%', 1, 'x', 'y'), ('', 2, NULL, NULL);
  INSERT INTO pairs VALUES (1, 'x,y', 1), (2, '', 2.5);
  INSERT INTO keyless VALUES ('a', 1), (NULL, NULL);
  INSERT INTO ruled VALUES (1, 1, 1);
  INSERT INTO summed (a) VALUES (1), (NULL);`

export const STORED_NAMES = ['plain', 'odd "name", ü/%', 'pairs', 'keyless', 'ruled', 'summed', 'watched']

/** Somebody whose sessions and password may come and go. */
const SPARE = { name: 'spare', password: 'battery staple' }
const MOST_KEPT = 30

/** A running service, and what its answers have told of it: what exists, and who may call. */
export interface Stage {
  readonly service: Service
  readonly call: Call
  readonly cookie: string
  readonly token: string
  readonly tables: Map<number, Table>
  readonly tokens: { readonly id: number; readonly token: string }[]
  readonly adminIds: number[]
  /** Keys of records as paths spell them. */
  readonly keys: string[]
  readonly spare: { name: string; password: string; cookie: string }
}

const keep = <T>(list: T[], item: T) => {
  list.push(item)
  if (list.length > MOST_KEPT) list.shift()
}

const cookieOf = ({ headers }: Reply) => String(headers['set-cookie']).split(';', 1)[0] as string

const sender =
  (call: Call) =>
  async (method: string, target: string, cookie: string, body: unknown): Promise<Reply & { readonly data: never }> => {
    const headers = { cookie, 'content-type': 'application/json' }
    const reply = await call({ method, target, headers, body: JSON.stringify(body) })
    if (reply.status !== 200) throw new Error(`${method} ${target} was refused: ${reply.body}`)
    return { ...reply, data: JSON.parse(reply.body).data as never }
  }

/** A service of its own, with tables of both origins, a token for everything and a second administrator. */
export const setStage = async (t: Test): Promise<Stage> => {
  const service = await startService(t, { DATABASE: createDatabase(t, ADOPTED), BODY_LIMIT: '65536' })
  const call = createCaller(t, service.port)
  const send = sender(call)
  const cookie = cookieOf(await send('POST', '/auth/login', '', { name: 'admin', password: PASSWORD }))
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { token } = (await send('POST', '/admin/tokens', cookie, { name: 'main', permissions })).data as {
    token: string
  }
  await send('POST', '/admin/admins', cookie, { ...SPARE, nickname: '' })
  const spare = { ...SPARE, cookie: cookieOf(await send('POST', '/auth/login', '', SPARE)) }
  const tables = new Map<number, Table>()
  for (const name of STORED_NAMES) {
    const table: Table = (await send('POST', '/admin/tables/import', cookie, { name })).data
    tables.set(table.id, table)
  }
  return {
    service,
    call,
    cookie,
    token,
    tables,
    tokens: [],
    adminIds: [],
    keys: ['1', '2', 'a,b/c%', '1,x%2Cy'],
    spare
  }
}

const idIn = (target: string) => Number(/\d+/.exec(target)?.[0])

const learnTable = ({ tables }: Stage, data: Table) => {
  tables.set(data.id, data)
  // The adopted ones stay.
  const dropped = [...tables.keys()][STORED_NAMES.length]
  if (tables.size > MOST_KEPT && dropped !== undefined) tables.delete(dropped)
}

const learnRecord = ({ keys }: Stage, data: Record<string, unknown>) => keep(keys, String(Object.values(data)[0]))

/** What each kind of success teaches; the data is what the document says, which has been checked. */
const lessons: Record<string, (stage: Stage, data: never, target: string) => void> = {
  createTable: learnTable,
  createTableByToken: learnTable,
  importTable: learnTable,
  updateTable: learnTable,
  refreshTable: learnTable,
  addField: learnTable,
  unregisterTable: ({ tables }, _data, target) => tables.size > 1 && tables.delete(idIn(target)),
  issueToken: ({ tokens }, data: { id: number; token: string }) => keep(tokens, data),
  createAdmin: ({ adminIds }, { id }: { id: number }) => keep(adminIds, id),
  createRecord: learnRecord,
  createTableRecord: learnRecord
}

/** Keeps the stage in step with an answer to an operation that succeeded. */
export const learn = (stage: Stage, operation: Operation, { method, target }: Sent, reply: Reply) => {
  if (reply.status !== 200 || method !== operation.method) return
  lessons[operation.operationId]?.(stage, JSON.parse(reply.body).data as never, target)
  if (operation.operationId === 'logIn') stage.spare.cookie = cookieOf(reply)
  if (operation.operationId === 'changeMyPassword') stage.spare.password = 'correct battery'
}

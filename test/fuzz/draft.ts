import type { Table } from '../../schemas/table.ts'
import type { Sent } from './caller.ts'
import { bodyOf, type Operation, operations } from './document.ts'
import type { Random } from './random.ts'
import { STORED_NAMES, type Stage } from './stage.ts'
import { nastyString, nastyValue, newName, sample } from './values.ts'

/** A request in parts, so that each can be made wrong by itself. */
export interface Draft {
  readonly operation: Operation
  readonly method: string
  /** Encoded, no parameter left in it. */
  readonly path: string
  /** Names and values, encoded. */
  readonly query: readonly (readonly [string, string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** What is sent in place of the body as JSON. */
  readonly bytes?: string | Buffer
}

type Json = Record<string, unknown>

/** Those that hash passwords, end sessions or have a large answer: a few of them show as much. */
const RARE = ['logIn', 'logOut', 'changeMyPassword', 'createAdmin', 'updateAdmin', 'readOpenapi']
const drawn = operations.flatMap((operation) =>
  Array.from({ length: RARE.includes(operation.operationId) ? 3 : 10 }, () => operation)
)

const idsFor = (path: string, { id }: Table, { tokens, adminIds }: Stage) => {
  if (path.startsWith('/admin/tokens')) return tokens.map((token) => token.id)
  return path.startsWith('/admin/admins') ? adminIds : [id]
}

const fill = (path: string, table: Table, stage: Stage, { pick, chance }: Random) => {
  const id = String(pick([...idsFor(path, table, stage), 999_999_999]))
  const pk = chance(0.3) ? pick(stage.keys) : pick(['1', '2', '3'])
  const values: Record<string, string> = { '{id}': id, '{pk}': pk, '{table}': table.name }
  return path.replaceAll(/\{\w+\}/g, (name) => encodeURIComponent(String(values[name])))
}

type MakeBody = (table: Table, stage: Stage, random: Random) => Json

const record: MakeBody = ({ fields }, _, random) => {
  const sent = fields.filter(({ isPrimary, isReadonly }) => !isReadonly && random.chance(isPrimary ? 0.2 : 0.8))
  return Object.fromEntries(sent.map(({ name, jsonType }) => [name, sample({ type: jsonType }, random)]))
}

const increment: MakeBody = ({ fields }, { keys }, { pick }) => {
  const numbers = fields.filter(({ jsonType, isPrimary }) => jsonType === 'integer' && !isPrimary)
  return {
    pk: pick([...keys, 1, 2, 3]),
    field: pick(numbers.length > 0 ? numbers : fields).name,
    count: pick([1, -1, 0.5, '9223372036854775807'])
  }
}

const login: MakeBody = (_, { spare: { name, password } }, { chance }) =>
  chance(0.8) ? { name, password } : { name: 'nobody', password }

const passwordChange: MakeBody = (_, { spare: { password } }, { chance }) => ({
  oldPassword: chance(0.8) ? password : 'wrong',
  newPassword: 'correct battery'
})

/** Where the schema alone would hardly ever make a request that succeeds. */
const bodies: Record<string, MakeBody> = {
  createRecord: record,
  createTableRecord: record,
  updateRecord: record,
  updateTableRecord: record,
  incrementField: increment,
  importTable: (_table, _stage, { pick }) => ({ name: pick([...STORED_NAMES, 'seen', 'sqlite_schema']) }),
  logIn: login,
  changeMyPassword: passwordChange,
  createAdmin: (_table, _stage, random) => ({ name: newName(random), nickname: 'New', password: 'long enough' }),
  updateAdmin: () => ({ nickname: 'Other', password: 'long enough, too' })
}

const parameterValues: Record<string, (table: Table, random: Random) => unknown> = {
  order: ({ fields }, { pick }) => `${pick(['', '-'])}${pick(fields).name}`,
  q: (_, random) => random.pick(['o', '1', '', '%', nastyString(random).slice(0, 255)])
}

const queryOf = ({ parameters = [] }: Operation, table: Table, random: Random) =>
  parameters
    .filter((parameter) => parameter.in === 'query' && random.chance(0.5))
    .map(({ name, schema }): readonly [string, string] => {
      const value = parameterValues[name]?.(table, random) ?? sample(schema, random)
      return [name, encodeURIComponent(String(value).toWellFormed())]
    })

/** Those that end a session or change its password take the one that nothing else needs. */
const credential = ({ operationId, security }: Operation, { cookie, token, spare }: Stage): Record<string, string> => {
  if (operationId === 'logOut' || operationId === 'changeMyPassword') return { cookie: spare.cookie }
  const [scheme = {}] = security
  if ('token' in scheme) return { authorization: `Bearer ${token}` }
  return 'session' in scheme ? { cookie } : {}
}

/** A request that the document allows, for any of its operations. */
export const draw = (stage: Stage, random: Random): Draft => {
  const operation = random.pick(drawn)
  const table = random.pick([...stage.tables.values()])
  const schema = bodyOf(operation)
  const body = schema && (bodies[operation.operationId]?.(table, stage, random) ?? sample(schema, random))
  return {
    operation,
    method: operation.method,
    path: fill(operation.path, table, stage, random),
    query: queryOf(operation, table, random),
    headers: { ...credential(operation, stage), ...(schema && { 'content-type': 'application/json' }) },
    body
  }
}

export const toRequest = ({ method, path, query, headers, body, bytes }: Draft): Sent => {
  const text = query.map(([name, value]) => `${name}=${value}`).join('&')
  const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
  return { method, target: text === '' ? path : `${path}?${text}`, headers, ...(sent !== undefined && { body: sent }) }
}

/** Puts anything at all somewhere into a value; the value itself stays. */
export const spoil = (value: unknown, random: Random): unknown => {
  if (typeof value !== 'object' || value === null || random.chance(0.2)) return nastyValue(random)
  const names = Object.keys(value)
  if (names.length === 0) return nastyValue(random)
  const name = random.pick(names)
  const member = spoil((value as Json)[name], random)
  if (Array.isArray(value)) return value.with(Number(name), member)
  return { ...value, [name]: member }
}

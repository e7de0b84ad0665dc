import type { Table } from '../../schemas/table.ts'
import { type Environment, EXTERNAL_TABLE_NAMES, METRICS_TOKEN } from './environment.ts'
import type { HttpRequest } from './http-client.ts'
import { bodyOf, type Operation, operations } from './openapi-document.ts'
import type { Random } from './random.ts'
import { newName, sample, unusualString, unusualValue } from './values.ts'

/** A request in parts, so that mutations can change one of them. */
export interface GeneratedRequest {
  readonly operation: Operation
  readonly method: string
  /** Percent-encoded, with values instead of its parameters. */
  readonly path: string
  /** Percent-encoded names and values. */
  readonly query: readonly (readonly [string, string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** Replaces the body, without JSON encoding. */
  readonly bytes?: string | Buffer
}

type Json = Record<string, unknown>

/** Operations that are generated less often: they hash passwords, end sessions or have a large response. */
const RARE = [
  'logIn',
  'logOut',
  'changeOwnPassword',
  'adminCreateAccount',
  'adminUpdateAccount',
  'adminDropTableField',
  'readOpenapiDocument',
  'readTokenDocument',
  'adminReadDocument',
  'adminCreateBackup',
  'adminUploadBackup'
]
const weightedOperations = operations.flatMap((operation) =>
  Array.from({ length: RARE.includes(operation.operationId) ? 3 : 10 }, () => operation)
)

const idsFor = (path: string, { id }: Table, { tokens, adminIds }: Environment) => {
  if (path.startsWith('/admin/tokens')) return tokens.map((token) => token.id)
  return path.startsWith('/admin/admins') ? adminIds : [id]
}

/** `{name}` is that of a backup, a field or an index. */
const nameFor = (path: string, { id, fields }: Table, { indexes, backups }: Environment, { pick }: Random) => {
  if (path.startsWith('/admin/backups/')) return pick(backups)
  return path.includes('/fields/') ? pick(fields).name : (indexes.get(id) ?? 'sqlite_autoindex_keyless_1')
}

/** Returns the claim `jti` of the session's JWT. */
const sessionIdOf = ({ cookie }: Environment['spare']): string =>
  JSON.parse(Buffer.from(String(cookie.split('.')[1]), 'base64url').toString()).jti

const fillParameters = (path: string, table: Table, environment: Environment, random: Random) => {
  const { pick, chance } = random
  const id = path.startsWith('/auth/sessions/')
    ? sessionIdOf(environment.spare)
    : String(pick([...idsFor(path, table, environment), 999_999_999]))
  const pk = chance(0.3) ? pick(environment.keys) : pick(['1', '2', '3'])
  const name = nameFor(path, table, environment, random)
  const values: Record<string, string> = { '{id}': id, '{pk}': pk, '{table}': table.name, '{name}': name }
  return path.replaceAll(/\{\w+\}/g, (parameter) => encodeURIComponent(String(values[parameter])))
}

type MakeBody = (table: Table, environment: Environment, random: Random) => Json

const record: MakeBody = ({ fields }, _, random) => {
  const sent = fields.filter(({ isPrimary, isReadonly }) => !isReadonly && random.chance(isPrimary ? 0.2 : 0.8))
  return Object.fromEntries(sent.map(({ name, jsonType }) => [name, sample({ type: jsonType }, random)]))
}

/** A record with its key. */
const upserted: MakeBody = (table, environment, random) => {
  const keys = table.fields.filter(({ isPrimary }) => isPrimary)
  const key = Object.fromEntries(keys.map(({ name, jsonType }) => [name, sample({ type: jsonType }, random)]))
  return { ...record(table, environment, random), ...key }
}

/** For half of the requests with the parameter `upsert`. */
const recordOrUpsert: MakeBody = (table, environment, random) =>
  (random.chance(0.5) ? record : upserted)(table, environment, random)

const increment: MakeBody = ({ fields }, { keys }, { pick }) => {
  const numbers = fields.filter(({ jsonType, isPrimary }) => jsonType === 'integer' && !isPrimary)
  return {
    pk: pick([...keys, 1, 2, 3]),
    field: pick(numbers.length > 0 ? numbers : fields).name,
    count: pick([1, -1, 0.5, '9223372036854775807'])
  }
}

const addition: MakeBody = (...args) => {
  const { field, count } = increment(...args)
  return { field, count }
}

/** Returns one to three operations on tables of the environment. */
const batch: MakeBody = (table, environment, random) => {
  const { keys, tables } = environment
  const key = () => random.pick([...keys, 1, 2, 3])
  const operation = (chosen: Table): Json => {
    const { name, fields, primaryKey } = chosen
    const values = record(chosen, environment, random)
    const filter = { where: { [random.pick(fields).name]: { isNull: random.chance(0.5) } } }
    return random.pick<Json>([
      { op: 'create', table: name, values },
      { op: 'create', table: name, values, onConflict: 'ignore' },
      { op: 'upsert', table: name, values: upserted(chosen, environment, random), on: primaryKey.split(',') },
      { op: 'update', table: name, pk: key(), values },
      { op: 'update', table: name, filter, maxAffected: 100, values },
      { op: 'delete', table: name, pk: key() },
      { op: 'delete', table: name, filter, maxAffected: 10 },
      { op: 'incr', table: name, ...increment(chosen, environment, random) }
    ])
  }
  const others = Array.from({ length: random.below(3) }, () => random.pick([...tables.values()]))
  return { operations: [table, ...others].map(operation) }
}

const query: MakeBody = ({ fields }, _, random) => {
  const { name, jsonType } = random.pick(fields)
  const operator = random.pick(['eq', 'ne', 'gte', 'lt'])
  return { filter: { where: { [name]: { [operator]: sample({ type: jsonType }, random) } } }, size: 5, order: name }
}

const aggregate: MakeBody = ({ fields }, _, { pick }) => ({
  groupBy: [pick(fields).name],
  compute: { n: { count: true }, most: { max: pick(fields).name } }
})

const declaredField = (name: string, { name: table, fields }: Table, { pick, chance }: Random): Json => ({
  name,
  ...pick([
    { jsonType: pick(['integer', 'number', 'string', 'boolean', 'object', 'array']) },
    { jsonType: 'string', check: { maxLength: 9 } },
    { jsonType: 'integer', check: { minimum: 0, enum: [1, 2] } },
    { jsonType: 'integer', references: { table, field: pick(fields).name, onDelete: 'cascade' } }
  ]),
  ...(chance(0.2) && { isUnique: true }),
  ...(chance(0.2) && { isIndexed: true })
})

const newTable: MakeBody = (table, _, random) => {
  const fields = ['a', 'b', 'c'].map((name) => declaredField(name, table, random))
  return { name: newName(random), label: 'New', fields, ...(random.chance(0.3) && { autoTimestamps: true }) }
}

const newField: MakeBody = (table, _, random) => ({ field: declaredField(newName(random), table, random) })

const login: MakeBody = (_, { spare: { name, password } }, { chance }) =>
  chance(0.8) ? { name, password } : { name: 'nobody', password }

const passwordChange: MakeBody = (_, { spare: { password } }, { chance }) => ({
  oldPassword: chance(0.8) ? password : 'wrong',
  newPassword: 'correct battery'
})

/** Bodies for operations that would rarely succeed with a body from the schema alone. */
const bodies: Record<string, MakeBody> = {
  adminCreateRecord: recordOrUpsert,
  createRecord: recordOrUpsert,
  adminUpdateRecord: record,
  adminPatchRecord: record,
  updateRecord: record,
  patchRecord: record,
  incrementRecord: increment,
  addToRecord: addition,
  runBatch: batch,
  adminRunBatch: batch,
  adminQueryRecords: query,
  queryRecords: query,
  adminAggregateRecords: aggregate,
  aggregateRecords: aggregate,
  adminExplainToken: ({ name }, { keys }, { pick, chance }) => ({
    table: name,
    action: pick(['read', 'create', 'update', 'delete', 'schema']),
    ...(chance(0.5) && { key: pick(keys) })
  }),
  adminImportTables: (_table, _environment, { pick }) => ({
    name: pick([...EXTERNAL_TABLE_NAMES, 'seen', 'sqlite_schema'])
  }),
  adminCreateTableIndex: ({ fields }, _, { pick, chance }) => ({ fields: [pick(fields).name], isUnique: chance(0.3) }),
  adminCreateTable: newTable,
  createTable: newTable,
  adminAddTableField: newField,
  addTableField: newField,
  adminUpdateTable: ({ fields }, _, random) => ({
    label: 'New',
    ...(random.chance(0.3) && { isPublished: true, isEditable: true }),
    ...(random.chance(0.3) && { searchIndex: random.chance(0.5) }),
    ...(random.chance(0.3) && { fields: [{ name: random.pick(fields).name, label: 'Other' }] }),
    ...(random.chance(0.02) && { name: newName(random), updateTokens: random.chance(0.5) })
  }),
  adminUpdateTableField: (_table, _environment, { pick, chance }) =>
    chance(0.7)
      ? { label: 'New' }
      : pick([{ nullable: true }, { jsonType: 'string', defaultValue: null }, { name: 'renamed' }]),
  logIn: login,
  changeOwnPassword: passwordChange,
  adminCreateAccount: (_table, _environment, random) => ({
    name: newName(random),
    nickname: 'New',
    password: 'long enough'
  }),
  adminUpdateAccount: () => ({ nickname: 'Other', password: 'long enough, too' })
}

const parameterValues: Record<string, (table: Table, random: Random) => unknown> = {
  order: ({ fields }, { pick }) => `${pick(['', '-'])}${pick(fields).name}`,
  tables: ({ name }) => name,
  // Other operations need tables.
  drop: (_, { chance }) => chance(0.02),
  upsert: ({ primaryKey, fields }, { pick, chance }) => (chance(0.8) ? primaryKey : pick(fields).name),
  q: (_, random) => random.pick(['o', '1', '', '%', unusualString(random).slice(0, 255)])
}

const queryOf = ({ parameters = [] }: Operation, table: Table, random: Random) =>
  parameters
    .filter((parameter) => parameter.in === 'query' && random.chance(0.5))
    .map(({ name, schema }): readonly [string, string] => {
      const value = parameterValues[name]?.(table, random) ?? sample(schema, random)
      return [name, encodeURIComponent(String(value).toWellFormed())]
    })

/** Operations that end a session or change its password. They use the spare session. */
const OF_SPARE_SESSION = ['logOut', 'endOwnSession', 'changeOwnPassword']

const credentialFor = (
  { operationId, security }: Operation,
  { cookie, token, spare }: Environment
): Record<string, string> => {
  if (OF_SPARE_SESSION.includes(operationId)) return { cookie: spare.cookie }
  const [scheme = {}] = security
  if ('token' in scheme) return { authorization: `Bearer ${token}` }
  if ('metricsToken' in scheme) return { authorization: `Bearer ${METRICS_TOKEN}` }
  return 'session' in scheme ? { cookie } : {}
}

/** Operations that take a file, which has a record on each line. */
const FILE_OPERATIONS = ['adminImportRecords', 'importRecords', 'adminCreateTableFromFile']

/** The name and the label of a new table, or none. */
const namesOf = ({ operationId }: Operation, random: Random): readonly (readonly [string, string])[] =>
  operationId === 'adminCreateTableFromFile'
    ? [
        ['name', newName(random)],
        ['label', 'New']
      ]
    : []

/** Generates an import, usually without the parameters that are for special files. */
const generateImport = (environment: Environment, random: Random, operation: Operation): GeneratedRequest => {
  const table = random.pick([...environment.tables.values()])
  const lines = Array.from({ length: 3 }, () => JSON.stringify(record(table, environment, random)))
  return {
    operation,
    method: operation.method,
    path: fillParameters(operation.path, table, environment, random),
    query: random.chance(0.2) ? queryOf(operation, table, random) : namesOf(operation, random),
    headers: { ...credentialFor(operation, environment), 'content-type': 'application/x-ndjson' },
    body: undefined,
    bytes: lines.slice(0, random.pick([1, 3])).join('\n')
  }
}

const generateUpload = (environment: Environment, operation: Operation): GeneratedRequest => ({
  operation,
  method: operation.method,
  path: operation.path,
  query: [],
  headers: { ...credentialFor(operation, environment), 'content-type': 'application/vnd.sqlite3' },
  body: undefined,
  bytes: environment.backupFile
})

/** Generates a request that matches the document. */
export const generateRequest = (
  environment: Environment,
  random: Random,
  operation = random.pick(weightedOperations)
): GeneratedRequest => {
  if (FILE_OPERATIONS.includes(operation.operationId)) return generateImport(environment, random, operation)
  if (operation.operationId === 'adminUploadBackup') return generateUpload(environment, operation)
  const table = random.pick([...environment.tables.values()])
  const schema = bodyOf(operation)
  const body = schema && (bodies[operation.operationId]?.(table, environment, random) ?? sample(schema, random))
  return {
    operation,
    method: operation.method,
    path: fillParameters(operation.path, table, environment, random),
    query: queryOf(operation, table, random),
    headers: { ...credentialFor(operation, environment), ...(schema && { 'content-type': 'application/json' }) },
    body
  }
}

export const toHttpRequest = ({ method, path, query, headers, body, bytes }: GeneratedRequest): HttpRequest => {
  const text = query.map(([name, value]) => `${name}=${value}`).join('&')
  const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
  return { method, target: text === '' ? path : `${path}?${text}`, headers, ...(sent !== undefined && { body: sent }) }
}

/** Returns a copy of a JSON value with one part replaced by an unusual value. */
export const corrupt = (value: unknown, random: Random): unknown => {
  if (typeof value !== 'object' || value === null || random.chance(0.2)) return unusualValue(random)
  const names = Object.keys(value)
  if (names.length === 0) return unusualValue(random)
  const name = random.pick(names)
  const member = corrupt((value as Json)[name], random)
  if (Array.isArray(value)) return value.with(Number(name), member)
  return { ...value, [name]: member }
}

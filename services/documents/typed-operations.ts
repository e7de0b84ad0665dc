import { kindOf } from '../model/kinds/kind-of.ts'
import type { Column, Structure } from '../model/table.ts'
import { keyColumns } from '../sql/keys.ts'
import type { Json } from './json.ts'
import type { TypedQuery } from './typed-queries.ts'
import { inComment, incrementable, refTo, type TypedAddition, type TypedTable, updatable } from './typed-schemas.ts'

/** The operations of the generic document on one table. The typed operations are made from them. */
export interface GenericOperations {
  readonly list: Json
  readonly query: Json
  readonly create: Json
  readonly read: Json
  readonly update: Json
  readonly patch: Json
  readonly remove: Json
  /** Only programs have this operation and the next ones. */
  readonly addition?: Json
  readonly increment?: Json
  readonly readSchema?: Json
}

type Parameter = Json & { readonly in: string; readonly name: string }

const parametersOf = ({ parameters = [] }: Json) => parameters as readonly Parameter[]

/** Returns the schema of one part of a key in a path. A part without an exact type is a string. */
const keySchema = ({ table, integers }: TypedTable, column: Column): Json => {
  const isInteger = kindOf(column).name === 'integer' && table.exactFields.has(column.name)
  return isInteger && integers !== 'string' ? { type: 'integer', format: 'int64' } : { type: 'string' }
}

/** Parameter names that every generator accepts in a path template. One letter may be a variable of a Go client. */
const TEMPLATE_NAME = /^[A-Za-z][A-Za-z0-9_]+$/

/** Packages that Go clients import, and variables of their functions. A parameter of such a name hides it. */
const NAMES_IN_GO =
  /^(?:body|bytes|client|context|ctx|err|errors|fmt|http|io|json|params|path|req|runtime|server|strings|url)$/i

const isParameterName = (name: string) => TEMPLATE_NAME.test(name) && !NAMES_IN_GO.test(name)

/** Returns the names of the columns, or `key1`, `key2`, … if a client cannot have a parameter of one of these names. */
const parameterNames = ({ key }: Structure) =>
  key.every(isParameterName) ? key : key.map((_, index) => `key${index + 1}`)

const keyParameters = (typed: TypedTable): readonly Parameter[] => {
  const { structure } = typed.table
  const names = parameterNames(structure)
  return keyColumns(structure).map((column, index) => ({
    in: 'path',
    name: String(names[index]),
    required: true,
    description: names.length === 1 ? 'The key of the record.' : 'A part of the key of the record.',
    schema: keySchema(typed, column)
  }))
}

/** Parameters of a list that typed clients send in the body of a query, where they have types. */
const QUERY_BODY = ['filter', 'fields', 'expand', 'cursor', 'total']

const IF_MATCH = 'If-Match'

/**
 * Of the headers, only `If-Match` is shown: a generated client reports the response 304 to `If-None-Match` as a failure.
 * `upsert` is not shown, because the response has another shape with it.
 */
const isShown = ({ in: place, name }: Parameter) =>
  place === 'query' ? ![...QUERY_BODY, 'upsert'].includes(name) : name === IF_MATCH

/** Parameters of changes that are of use only for a caller that can read. */
const NEEDS_READ = ['return', IF_MATCH]

/** A generator may make a type of each shared parameter, and a table may be named `Order`. */
const COMPONENT_NAMES: Readonly<Record<string, string>> = { order: 'recordOrder', [IF_MATCH]: 'ifMatch' }

const componentName = ({ name }: Parameter) => COMPONENT_NAMES[name] ?? name

/** Returns the query and header parameters of the operations, which all tables share. */
export const sharedParameters = ({ list, update }: GenericOperations): Json =>
  Object.fromEntries(
    [list, update]
      .flatMap(parametersOf)
      .filter(isShown)
      .map((parameter) => [componentName(parameter), parameter])
  )

const sharedParametersOf = (operation: Json, typed: TypedTable): readonly Json[] =>
  parametersOf(operation)
    .filter((parameter) => isShown(parameter) && (typed.canRead || !NEEDS_READ.includes(parameter.name)))
    .map((parameter) => ({ $ref: `#/components/parameters/${componentName(parameter)}` }))

/** The failures that programs handle. All others have the same body, and are under `default`. */
const FAILURES = ['400', '404', '409', 'default']

/** A read conflicts with nothing but a change of the table's structure, which no program handles. */
const READ_FAILURES = FAILURES.filter((status) => status !== '409')

const READ_VERBS = ['list', 'query', 'read']

const failuresOf = ({ responses }: Json, { verb }: Call): Json => {
  const listed = READ_VERBS.includes(verb) ? READ_FAILURES : FAILURES
  return Object.fromEntries(Object.entries(responses as Json).filter(([status]) => listed.includes(status)))
}

/** Where the operations of a table are. */
export interface TypedPaths {
  readonly list: string
  readonly query: string
  readonly create: string
  readonly record: string
  /** An increment of this record. */
  readonly addition?: string
  readonly increment?: string
  readonly schema?: string
}

interface Call {
  readonly isAllowed: boolean
  /** Undefined where the area has no such operation. */
  readonly path: string | undefined
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly generic: Json | undefined
  /** The first and the last word of the operation's id: `read` and `Schema` for `readAlbumSchema`. */
  readonly verb: string
  readonly suffix?: string
  readonly summary: string
  /** The names of the schemas of the bodies. */
  readonly request?: string
  readonly response: string
}

/** What the operations of a table are made of. */
export interface OperationParts {
  readonly typed: TypedTable
  readonly generic: GenericOperations
  readonly paths: TypedPaths
  readonly query: TypedQuery
  readonly addition: TypedAddition
}

/** Returns the calls of a table, in the order of the document. */
const callsOf = ({ typed, generic, paths, query, addition }: OperationParts): readonly Call[] => {
  const { canRead, canCreate, canUpdate, canDelete } = typed
  const name = typed.table.choices.clientName
  const record = `${name}Envelope`
  const change = `${name}ChangeEnvelope`
  const update = {
    isAllowed: canUpdate && updatable(typed).length > 0,
    path: paths.record,
    request: `${name}Update`,
    response: change
  }
  const increment = {
    isAllowed: canUpdate && incrementable(typed).length > 0,
    method: 'post',
    response: change
  } as const
  return [
    {
      isAllowed: canRead,
      path: paths.list,
      method: 'get',
      generic: generic.list,
      verb: 'list',
      summary: 'List, sort and search',
      response: `${name}PageEnvelope`
    },
    {
      isAllowed: canRead,
      path: paths.query,
      method: 'post',
      generic: generic.query,
      verb: 'query',
      summary: 'Find records by a filter',
      request: query.request,
      response: query.response
    },
    {
      isAllowed: canCreate,
      path: paths.create,
      method: 'post',
      generic: generic.create,
      verb: 'create',
      summary: 'Create a record',
      request: `${name}Create`,
      response: record
    },
    {
      // A view may have no key.
      isAllowed: canRead && typed.table.structure.key.length > 0,
      path: paths.record,
      method: 'get',
      generic: generic.read,
      verb: 'read',
      summary: 'Read one record',
      response: record
    },
    { ...update, method: 'put', generic: generic.update, verb: 'update', summary: 'Update a record' },
    { ...update, method: 'patch', generic: generic.patch, verb: 'patch', summary: 'Update a record, with PATCH' },
    {
      isAllowed: canDelete,
      path: paths.record,
      method: 'delete',
      generic: generic.remove,
      verb: 'delete',
      summary: 'Delete a record',
      response: change
    },
    {
      ...increment,
      path: paths.addition,
      generic: generic.addition,
      verb: 'addTo',
      summary: 'Increment a number of the record',
      request: addition.request
    },
    {
      ...increment,
      path: paths.increment,
      generic: generic.increment,
      verb: 'increment',
      summary: 'Increment a number',
      request: `${name}Increment`
    },
    {
      isAllowed: canRead,
      path: paths.schema,
      method: 'get',
      generic: generic.readSchema,
      verb: 'read',
      suffix: 'Schema',
      summary: 'Read the fields',
      response: 'TableEnvelope'
    }
  ]
}

const contentOf = (schema: string) => ({ 'application/json': { schema: refTo(schema) } })

/** Returns the headers of a success that describe its record, if it has any. Only a caller that can read gets a tag. */
const headersOf = ({ responses }: Json, { canRead }: TypedTable) => {
  const { headers = {} } = (responses as Readonly<Record<string, Json>>)[200] as Json
  const shown = canRead ? ['ETag', 'Location'] : ['Location']
  const described = Object.entries(headers as Json).filter(([name]) => shown.includes(name))
  return described.length === 0 ? {} : { headers: Object.fromEntries(described) }
}

const toOperation = (typed: TypedTable, generic: Json, call: Call): Json => {
  const { name, label, choices } = typed.table
  // `return` changes nothing there.
  const parameters = call.verb === 'create' ? [] : sharedParametersOf(generic, typed)
  return {
    operationId: call.verb + choices.clientName + (call.suffix ?? ''),
    summary: inComment(`${call.summary}: ${label || name}`),
    description: generic.description,
    tags: [choices.clientName],
    ...(parameters.length > 0 && { parameters }),
    ...(call.request !== undefined && { requestBody: { required: true, content: contentOf(call.request) } }),
    responses: {
      ...failuresOf(generic, call),
      200: { description: 'Success.', ...headersOf(generic, typed), content: contentOf(call.response) }
    }
  }
}

export const keyTemplate = (structure: Structure) =>
  parameterNames(structure)
    .map((name) => `{${name}}`)
    .join(',')

/** Returns the operations of a table that the caller may use, by their paths and methods. */
export const typedPaths = (parts: OperationParts): Json => {
  const { typed, paths } = parts
  const made: Record<string, Json> = {}
  for (const call of callsOf(parts)) {
    const { isAllowed, path, method, generic: operation } = call
    if (!isAllowed || path === undefined || operation === undefined) continue
    const isRecord = path === paths.record || path === paths.addition
    const parameters = isRecord && { parameters: keyParameters(typed) }
    made[path] = { ...parameters, ...made[path], [method]: toOperation(typed, operation, call) }
  }
  return made
}

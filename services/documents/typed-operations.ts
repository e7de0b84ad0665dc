import { kindOf } from '../model/kinds/kind-of.ts'
import type { Column, Structure } from '../model/table.ts'
import { keyColumns } from '../sql/keys.ts'
import type { Json } from './json.ts'
import { type Call, callsOf, type GenericOperations, type OperationParts } from './typed-calls.ts'
import { inComment, refTo, type TypedTable } from './typed-schemas.ts'

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
    schema: keySchema(typed, column)
  }))
}

/**
 * The query and header parameters of typed documents, and the names of their components. A generator may make a type of
 * each component, and a table may be named `Order`.
 *
 * Of the headers, only `If-Match` is shown: a generated client reports the response 304 to `If-None-Match` as a failure.
 * `upsert` is not shown, because the response has another shape with it.
 */
const COMPONENT_NAMES: Readonly<Record<string, string>> = {
  page: 'page',
  size: 'size',
  order: 'recordOrder',
  q: 'q',
  filter: 'recordFilter',
  fields: 'recordFields',
  format: 'exportFormat',
  atomic: 'importAtomic',
  dryRun: 'importDryRun',
  mode: 'importMode',
  on: 'importOn',
  return: 'return',
  'If-Match': 'ifMatch'
}

/** Returns the parameters that all tables share. An export describes a page in other words than a list. */
const sharedParameters = ({ importing, exporting, update, list }: GenericOperations): Json =>
  Object.fromEntries(
    [importing, exporting, update, list]
      .flatMap(parametersOf)
      .flatMap((parameter) => (COMPONENT_NAMES[parameter.name] ? [[COMPONENT_NAMES[parameter.name], parameter]] : []))
  )

const headersOf = ({ responses }: Json) => {
  const { headers = {} } = (responses as Readonly<Record<string, Json>>)[200] as Json
  return headers as Json
}

/** Returns the headers that all tables share. */
const sharedHeaders = ({ create }: GenericOperations): Json => {
  const { Location } = headersOf(create)
  const description = 'The tag of the record. The response to a change has it only with `return=record`.'
  return { ETag: { description, schema: { type: 'string' } }, Location }
}

/** Returns the components of the operations that all tables share. */
export const sharedComponents = (generic: GenericOperations): Readonly<Record<string, Json>> => ({
  parameters: sharedParameters(generic),
  headers: sharedHeaders(generic)
})

/** The failure that most programs handle. All others have the same body, and are under `default`. */
const FAILURES = ['404', 'default']

const failuresOf = ({ responses }: Json): Json =>
  Object.fromEntries(Object.entries(responses as Json).filter(([status]) => FAILURES.includes(status)))

const contentOf = (schema: Json) => ({ 'application/json': { schema } })

/** Returns the headers of a success that describe its record, if it has any. Only a caller that can read gets a tag. */
const shownHeaders = (generic: Json, { canRead }: TypedTable) => {
  const shown = canRead ? ['ETag', 'Location'] : ['Location']
  const names = Object.keys(headersOf(generic)).filter((name) => shown.includes(name))
  if (names.length === 0) return {}
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) }
}

const successOf = (typed: TypedTable, generic: Json, { response }: Call): Json => {
  const { content } = (generic.responses as Readonly<Record<string, Json>>)[200] as Json
  return {
    description: 'Success.',
    ...shownHeaders(generic, typed),
    content: response === undefined ? content : contentOf(refTo(response))
  }
}

const toOperation = (typed: TypedTable, generic: Json, call: Call): Json => {
  const { name, label, choices } = typed.table
  const { parameters = [], request } = call
  return {
    operationId: call.verb + choices.clientName + (call.suffix ?? ''),
    summary: inComment(`${call.summary}: ${label || name}`),
    description: call.description,
    tags: [choices.clientName],
    ...(parameters.length > 0 && {
      parameters: parameters.map((one) => ({ $ref: `#/components/parameters/${COMPONENT_NAMES[one]}` }))
    }),
    ...(request !== undefined && { requestBody: { required: true, content: contentOf(request) } }),
    responses: { ...failuresOf(generic), 200: successOf(typed, generic, call) }
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

import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { foldName } from '../model/names.ts'
import { isObject, type Json } from './json.ts'
import { typedAggregate } from './typed-aggregates.ts'
import type { GenericOperations, TypedPaths } from './typed-calls.ts'
import { keyTemplate, sharedComponents, typedPaths } from './typed-operations.ts'
import { typedQuery } from './typed-queries.ts'
import { inComment, type TypedTable, typedAddition, typedSchemas } from './typed-schemas.ts'

/** The generic document, from which typed ones take the operations, the failures and the shared schemas. */
export interface GenericDocument {
  readonly openapi: string
  readonly info: Json
  readonly servers: unknown
  readonly tags: readonly Json[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: Readonly<Record<string, Json>>
}

/** The operations of one kind of caller. */
interface Area {
  /** The names of the security schemes that its operations accept. */
  readonly credentials: readonly string[]
  readonly generic: (document: GenericDocument) => GenericOperations
  readonly paths: (typed: TypedTable) => TypedPaths
}

/** @throws if the generic document has no such operation */
const operationAt = ({ paths }: GenericDocument, path: string, method: string): Json => {
  const operation = paths[path]?.[method]
  if (!operation) throw new Error(`The generic document has no ${method} ${path}.`)
  return operation
}

/** `encodeURIComponent` keeps these characters. Some generators copy a path into a literal or a comment as it is. */
const encodeName = (name: string) =>
  encodeURIComponent(name).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** The calls of programs, under /data. */
export const dataArea: Area = {
  credentials: ['token'],
  generic: (document) => ({
    list: operationAt(document, '/data/{table}', 'get'),
    query: operationAt(document, '/data/{table}/query', 'post'),
    aggregate: operationAt(document, '/data/{table}/aggregate', 'post'),
    exporting: operationAt(document, '/data/{table}/export', 'get'),
    importing: operationAt(document, '/data/{table}/import', 'post'),
    create: operationAt(document, '/data/{table}/records', 'post'),
    read: operationAt(document, '/data/{table}/records/{pk}', 'get'),
    update: operationAt(document, '/data/{table}/records/{pk}', 'put'),
    remove: operationAt(document, '/data/{table}/records/{pk}', 'delete'),
    addition: operationAt(document, '/data/{table}/records/{pk}/incr', 'post'),
    readSchema: operationAt(document, '/data/{table}/schema', 'get')
  }),
  paths: ({ table: { structure }, pathName }) => {
    const base = `/data/${encodeName(pathName)}`
    const record = `${base}/records/${keyTemplate(structure)}`
    return {
      list: base,
      query: `${base}/query`,
      aggregate: `${base}/aggregate`,
      exporting: `${base}/export`,
      importing: `${base}/import`,
      create: `${base}/records`,
      record,
      addition: `${record}/incr`,
      schema: `${base}/schema`
    }
  }
}

/** The calls of administrators for records, under /admin/tables. */
export const adminArea: Area = {
  credentials: ['session', 'adminKey'],
  generic: (document) => ({
    list: operationAt(document, '/admin/tables/{id}/data', 'get'),
    query: operationAt(document, '/admin/tables/{id}/query', 'post'),
    aggregate: operationAt(document, '/admin/tables/{id}/aggregate', 'post'),
    exporting: operationAt(document, '/admin/tables/{id}/export', 'get'),
    importing: operationAt(document, '/admin/tables/{id}/import', 'post'),
    create: operationAt(document, '/admin/tables/{id}/data', 'post'),
    read: operationAt(document, '/admin/tables/{id}/data/{pk}', 'get'),
    update: operationAt(document, '/admin/tables/{id}/data/{pk}', 'put'),
    remove: operationAt(document, '/admin/tables/{id}/data/{pk}', 'delete')
  }),
  paths: ({ table: { id, structure } }) => {
    const table = `/admin/tables/${id}`
    const base = `${table}/data`
    return {
      list: base,
      query: `${table}/query`,
      aggregate: `${table}/aggregate`,
      exporting: `${table}/export`,
      importing: `${table}/import`,
      create: base,
      record: `${base}/${keyTemplate(structure)}`
    }
  }
}

const isExample = (key: string, value: unknown) => key === 'example' || (key === 'examples' && Array.isArray(value))

/** Removes the examples: they name other tables, and the caller may not know a table of such a name. */
const withoutExamples = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutExamples)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key, item]) => !isExample(key, item))
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutExamples(item)]))
}

const REFERENCE = /^#\/components\/([^/]+)\/([^/]+)$/

/** Adds the components that a value needs, directly or through other components, to `needed`. */
const addNeeded = (
  value: unknown,
  components: Readonly<Record<string, Json>>,
  needed: Record<string, Record<string, unknown>>
) => {
  if (!isObject(value)) return
  const [, group = '', name = ''] = REFERENCE.exec(String(value.$ref)) ?? []
  const component = components[group]?.[name]
  // A component that is missing is the record of another table, which adds it.
  if (component !== undefined && needed[group]?.[name] === undefined) {
    needed[group] ??= {}
    needed[group][name] = component
    addNeeded(component, components, needed)
  }
  for (const item of Object.values(value)) addNeeded(item, components, needed)
}

const neededComponents = (paths: Json, components: Readonly<Record<string, Json>>) => {
  const needed: Record<string, Record<string, unknown>> = {}
  addNeeded(paths, components, needed)
  return needed
}

export interface DocumentContent {
  readonly tables: readonly TypedTable[]
  /** Paths of the generic document that the caller may use, too. */
  readonly sharedPaths: readonly string[]
  readonly title: string
  readonly description: string
}

/** A document as text. */
export interface TypedText {
  readonly text: string
  /** Hexadecimal digits, which differ for every other content. */
  readonly digest: string
}

/** Converts a part of a document of OpenAPI 3.1 to another version. */
export type Convert = (part: Json) => Json

const tagOf = ({ table }: TypedTable) => ({
  name: table.choices.clientName,
  description: inComment(table.note || table.label || table.name)
})

/** Returns the tags of the shared operations. Those of tables are the names of the tables. */
const sharedTags = ({ tags, paths }: GenericDocument, sharedPaths: readonly string[]) => {
  const operations = sharedPaths.flatMap((path) => Object.values(paths[path] as Readonly<Record<string, Json>>))
  const used = new Set(operations.flatMap((operation) => operation.tags))
  return tags.filter(({ name }) => used.has(name))
}

/** Returns the text of the members of an object, without its braces. */
const membersOf = (value: unknown) => JSON.stringify(value).slice(1, -1)

const joined = (members: readonly string[]) => `{${members.filter((text) => text !== '').join(',')}}`

/** Milliseconds of work before other requests run. */
const MAX_SLICE = 5

/** Returns a function that lets other requests run if the work has taken long: 500 tables take half a second. */
const createPause = () => {
  let start = performance.now()
  return async () => {
    if (performance.now() - start < MAX_SLICE) return
    await setImmediate()
    start = performance.now()
  }
}

/**
 * Returns the function that makes the OpenAPI document of exactly the given tables, and of the actions that the caller
 * has on them. The document names no other table and no hidden field. It is made table by table, as text.
 */
export const createTypedDocuments = (document: GenericDocument, area: Area) => {
  const generic = withoutExamples(document) as GenericDocument
  const operations = area.generic(generic)
  const { securitySchemes = {}, ...others } = generic.components
  const shared = { ...others, ...sharedComponents(operations) }

  const headOf = ({ tables, sharedPaths, title, description }: DocumentContent) => ({
    openapi: generic.openapi,
    info: { ...generic.info, title: inComment(title), description },
    servers: generic.servers,
    security: area.credentials.map((credential) => ({ [credential]: [] })),
    tags: [...sharedTags(generic, sharedPaths), ...tables.map(tagOf)]
  })

  /** Returns the paths and the schemas of a table, and the shared components that they need. */
  const partOf = (typed: TypedTable, clientNames: ReadonlySet<string>) => {
    const query = typedQuery(typed, clientNames)
    const addition = typedAddition(typed, clientNames)
    const aggregate = typedAggregate(typed, clientNames, query)
    const paths = typedPaths({ typed, generic: operations, paths: area.paths(typed), query, aggregate, addition })
    const own = {
      ...typedSchemas(typed, query.hasExpansions),
      ...query.schemas,
      ...aggregate.schemas,
      ...addition.schemas
    }
    const { schemas = {}, ...components } = neededComponents(paths, {
      ...shared,
      schemas: { ...others.schemas, ...query.conditions, ...own }
    })
    const isOwn = ([name]: readonly [string, unknown]) => Object.hasOwn(own, name)
    const entries = Object.entries(schemas)
    return {
      paths,
      schemas: Object.fromEntries(entries.filter(isOwn)),
      components: { ...components, schemas: Object.fromEntries(entries.filter((entry) => !isOwn(entry))) }
    }
  }

  return async (options: DocumentContent, convert: Convert): Promise<TypedText> => {
    const { tables, sharedPaths } = options
    const clientNames = new Set(tables.map(({ table }) => foldName(table.choices.clientName)))
    const pause = createPause()
    const sharedOperations = Object.fromEntries(sharedPaths.map((path) => [path, generic.paths[path]]))
    const needed = neededComponents(sharedOperations, shared)
    const pathTexts: string[] = []
    const schemaTexts: string[] = []
    for (const typed of tables) {
      await pause()
      const { paths, schemas, components } = partOf(typed, clientNames)
      for (const [group, members] of Object.entries(components)) needed[group] = { ...needed[group], ...members }
      pathTexts.push(membersOf(convert({ paths }).paths))
      schemaTexts.push(membersOf(convert({ schemas }).schemas))
    }
    pathTexts.push(membersOf(convert({ paths: sharedOperations }).paths))
    const { schemas: sharedSchemas = {}, ...components } = needed
    schemaTexts.unshift(membersOf(convert({ schemas: sharedSchemas }).schemas))
    const accepted = area.credentials.map((credential) => [credential, securitySchemes[credential]])
    const security = { securitySchemes: Object.fromEntries(accepted) }
    const componentTexts = [membersOf({ ...security, ...convert(components) }), `"schemas":${joined(schemaTexts)}`]

    const body = `,"paths":${joined(pathTexts)},"components":${joined(componentTexts)}}`
    const head = headOf(options)
    const digest = hash('sha256', JSON.stringify(head) + body)
    const [number] = String(generic.info.version).split('+')
    const info = { ...head.info, version: `${number}+${digest.slice(0, 8)}` }
    return { text: JSON.stringify(convert({ ...head, info })).slice(0, -1) + body, digest }
  }
}

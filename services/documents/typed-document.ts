import { digestOf } from './digest.ts'
import { isObject, type Json, mapValues } from './json.ts'
import {
  type GenericOperations,
  keyTemplate,
  sharedParameters,
  type TypedPaths,
  typedPaths
} from './typed-operations.ts'
import { type TypedTable, typedSchemas } from './typed-schemas.ts'

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
  readonly credential: string
  readonly generic: (document: GenericDocument) => GenericOperations
  readonly paths: (typed: TypedTable) => TypedPaths
}

/** @throws if the generic document has no such operation */
const operationAt = ({ paths }: GenericDocument, path: string, method: string): Json => {
  const operation = paths[path]?.[method]
  if (!operation) throw new Error(`The generic document has no ${method} ${path}.`)
  return operation
}

/** The calls of programs, under /data. */
export const dataArea: Area = {
  credential: 'token',
  generic: (document) => ({
    list: operationAt(document, '/data/{table}', 'get'),
    create: operationAt(document, '/data/{table}/records', 'post'),
    read: operationAt(document, '/data/{table}/records/{pk}', 'get'),
    update: operationAt(document, '/data/{table}/records/{pk}', 'put'),
    remove: operationAt(document, '/data/{table}/records/{pk}', 'delete'),
    increment: operationAt(document, '/data/{table}/incr', 'post'),
    readSchema: operationAt(document, '/data/{table}/schema', 'get')
  }),
  paths: ({ table: { name, structure } }) => {
    const base = `/data/${encodeURIComponent(name)}`
    return {
      list: base,
      create: `${base}/records`,
      record: `${base}/records/${keyTemplate(structure)}`,
      increment: `${base}/incr`,
      schema: `${base}/schema`
    }
  }
}

/** The calls of administrators for records, under /admin/tables. */
export const adminArea: Area = {
  credential: 'session',
  generic: (document) => ({
    list: operationAt(document, '/admin/tables/{id}/data', 'get'),
    create: operationAt(document, '/admin/tables/{id}/data', 'post'),
    read: operationAt(document, '/admin/tables/{id}/data/{pk}', 'get'),
    update: operationAt(document, '/admin/tables/{id}/data/{pk}', 'put'),
    remove: operationAt(document, '/admin/tables/{id}/data/{pk}', 'delete')
  }),
  paths: ({ table: { id, structure } }) => {
    const base = `/admin/tables/${id}/data`
    return { list: base, create: base, record: `${base}/${keyTemplate(structure)}` }
  }
}

const isExample = (key: string, value: unknown) => key === 'example' || (key === 'examples' && Array.isArray(value))

/** Returns the value without examples: they name tables that the caller may not see. */
const withoutExamples = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutExamples)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key, item]) => !isExample(key, item))
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutExamples(item)]))
}

const REFERENCE = /^#\/components\/([^/]+)\/([^/]+)$/

/** Adds to `needed` the components that the value refers to, directly or through other components. */
const addNeeded = (
  value: unknown,
  components: Readonly<Record<string, Json>>,
  needed: Record<string, Record<string, unknown>>
) => {
  if (!isObject(value)) return
  const [, group, name] = REFERENCE.exec(String(value.$ref)) ?? []
  if (group !== undefined && name !== undefined && needed[group]?.[name] === undefined) {
    const component = components[group]?.[name]
    needed[group] ??= {}
    needed[group][name] = component
    addNeeded(component, components, needed)
  }
  for (const item of Object.values(value)) addNeeded(item, components, needed)
}

const neededComponents = (paths: Json, components: Readonly<Record<string, Json>>) => {
  const needed: Record<string, Record<string, unknown>> = {}
  addNeeded(paths, components, needed)
  return mapValues(needed, (group) =>
    Object.fromEntries(Object.entries(group as Json).sort(([a], [b]) => (a < b ? -1 : 1)))
  ) as Record<string, Json>
}

export interface TypedOptions {
  readonly tables: readonly TypedTable[]
  /** Paths of the generic document that the caller may also use. */
  readonly sharedPaths: readonly string[]
  readonly title: string
  readonly description: string
}

const tagOf = ({ table }: TypedTable) => ({
  name: table.choices.clientName,
  description: table.note || table.label || table.name
})

/** Returns the tags of the shared operations. The tag of a table is its client name. */
const sharedTags = ({ tags, paths }: GenericDocument, sharedPaths: readonly string[]) => {
  const operations = sharedPaths.flatMap((path) => Object.values(paths[path] as Readonly<Record<string, Json>>))
  const used = new Set(operations.flatMap((operation) => operation.tags))
  return tags.filter(({ name }) => used.has(name))
}

/** Returns the document with the version of the generic document and a digest of its own content. */
const withVersion = (document: Json, { version }: Json) => {
  const [number] = String(version).split('+')
  const info = document.info as Json
  return { ...document, info: { ...info, version: `${number}+${digestOf(JSON.stringify(document)).slice(0, 8)}` } }
}

/**
 * Returns the function that makes the OpenAPI 3.1 document of exactly the given tables, with the operations that the
 * caller may use on them. The document names no other table and no hidden field.
 */
export const createTypedDocuments = (document: GenericDocument, area: Area) => {
  const generic = withoutExamples(document) as GenericDocument
  const operations = area.generic(generic)
  const { securitySchemes = {}, ...others } = generic.components
  const components = { ...others, parameters: sharedParameters(operations) }

  return ({ tables, sharedPaths, title, description }: TypedOptions): Json => {
    const paths = Object.assign(
      Object.fromEntries(sharedPaths.map((path) => [path, generic.paths[path]])),
      ...tables.map((typed) => typedPaths(typed, operations, area.paths(typed)))
    )
    const schemas = Object.assign({}, others.schemas, ...tables.map(typedSchemas))
    const made = {
      openapi: generic.openapi,
      info: { ...generic.info, title, description },
      servers: generic.servers,
      security: [{ [area.credential]: [] }],
      tags: [...sharedTags(generic, sharedPaths), ...tables.map(tagOf)],
      paths,
      components: {
        securitySchemes: { [area.credential]: securitySchemes[area.credential] },
        ...neededComponents(paths, { ...components, schemas })
      }
    }
    return withVersion(made, generic.info)
  }
}

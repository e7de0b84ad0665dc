import type { Json } from './json.ts'
import type { TypedAggregate } from './typed-aggregates.ts'
import type { TypedQuery } from './typed-queries.ts'
import { changeable, incrementable, refTo, type TypedAddition, type TypedTable } from './typed-schemas.ts'

/** The operations of the generic document on one table. The typed operations are made from them. */
export interface GenericOperations {
  readonly list: Json
  readonly query: Json
  readonly aggregate: Json
  readonly exporting: Json
  readonly importing: Json
  readonly create: Json
  readonly read: Json
  readonly update: Json
  readonly remove: Json
  /** Only programs have this operation and the next one. */
  readonly addition?: Json
  readonly readSchema?: Json
}

/** Where the operations of a table are. */
export interface TypedPaths {
  readonly list: string
  readonly query: string
  readonly aggregate: string
  readonly exporting: string
  readonly importing: string
  readonly create: string
  readonly record: string
  /** An increment of this record. */
  readonly addition?: string
  readonly schema?: string
}

/** An operation of one table. */
export interface Call {
  readonly isAllowed: boolean
  /** Undefined where the area has no such operation. */
  readonly path: string | undefined
  readonly method: 'get' | 'post' | 'put' | 'delete'
  readonly generic: Json | undefined
  /** The first and the last word of the operation's id: `read` and `Schema` for `readAlbumSchema`. */
  readonly verb: string
  readonly suffix?: string
  readonly summary: string
  readonly description: string
  /** The parameters of the generic operation that the call has, too. */
  readonly parameters?: readonly string[]
  /** The schema of the request. */
  readonly request?: Json
  /** The name of the schema of the response. Without it, the response is that of the generic operation. */
  readonly response?: string
}

/** What the operations of a table are made of. */
export interface OperationParts {
  readonly typed: TypedTable
  readonly generic: GenericOperations
  readonly paths: TypedPaths
  readonly query: TypedQuery
  readonly aggregate: TypedAggregate
  readonly addition: TypedAddition
}

const listCalls = ({ typed, generic, paths, query }: OperationParts): readonly Call[] => {
  const name = typed.table.choices.clientName
  const isAllowed = typed.canRead
  return [
    {
      isAllowed,
      path: paths.list,
      method: 'get',
      generic: generic.list,
      verb: 'list',
      summary: 'List, sort and search',
      description: 'Returns one page, sorted by the key unless `order` is sent.',
      // A query has `filter`, `expand`, `cursor` and `total` with types. Records without some fields have no type.
      parameters: ['page', 'size', 'order', 'q'],
      response: `${name}PageEnvelope`
    },
    {
      isAllowed,
      path: paths.query,
      method: 'post',
      generic: generic.query,
      verb: 'query',
      summary: 'Find records',
      description: 'Returns one page. `next` is the cursor of the next one.',
      request: refTo(query.request),
      response: query.response
    }
  ]
}

const recordCalls = ({ typed, generic, paths, addition }: OperationParts): readonly Call[] => {
  const { canRead, canUpdate, canDelete } = typed
  const name = typed.table.choices.clientName
  const change = {
    path: paths.record,
    parameters: canRead ? ['return', 'If-Match'] : [],
    response: `${name}ChangeEnvelope`
  }
  return [
    {
      isAllowed: typed.canCreate,
      path: paths.create,
      method: 'post',
      generic: generic.create,
      verb: 'create',
      summary: 'Create a record',
      description: 'Returns the record with its key and its defaults.',
      request: refTo(`${name}Create`),
      response: `${name}Envelope`
    },
    {
      // A view may have no key.
      isAllowed: canRead && typed.table.structure.key.length > 0,
      path: paths.record,
      method: 'get',
      generic: generic.read,
      verb: 'read',
      summary: 'Read one record',
      description: 'Returns the record with this key.',
      response: `${name}Envelope`
    },
    {
      ...change,
      isAllowed: canUpdate && changeable(typed).length > 0,
      method: 'put',
      generic: generic.update,
      verb: 'update',
      summary: 'Update a record',
      description: 'Changes only the fields that are sent.',
      request: refTo(`${name}Update`)
    },
    {
      ...change,
      isAllowed: canDelete,
      method: 'delete',
      generic: generic.remove,
      verb: 'delete',
      summary: 'Delete a record',
      description: canRead ? 'With `return=record`, returns the record as it was.' : 'Deletes the record.'
    },
    {
      ...change,
      isAllowed: canUpdate && incrementable(typed).length > 0,
      path: paths.addition,
      method: 'post',
      generic: generic.addition,
      verb: 'addTo',
      summary: 'Increment a number',
      description: 'Adds `count`. null counts as 0.',
      request: refTo(addition.request)
    }
  ]
}

const bulkCalls = ({ typed, generic, paths, aggregate }: OperationParts): readonly Call[] => {
  const isAllowed = typed.canRead
  return [
    {
      isAllowed,
      path: paths.aggregate,
      method: 'post',
      generic: generic.aggregate,
      verb: 'aggregate',
      summary: 'Compute values',
      description: 'Returns one row for each group.',
      request: refTo(aggregate.request)
    },
    {
      isAllowed,
      path: paths.exporting,
      method: 'get',
      generic: generic.exporting,
      verb: 'export',
      summary: 'Export records',
      description: 'Returns all matching records, as CSV or NDJSON.',
      parameters: ['order', 'q', 'filter', 'fields', 'format']
    },
    {
      isAllowed: typed.canCreate,
      path: paths.importing,
      method: 'post',
      generic: generic.importing,
      verb: 'import',
      summary: 'Import records',
      description: 'If one record is wrong, none is imported.',
      parameters: ['atomic', 'dryRun', ...(typed.canUpdate ? ['mode', 'on'] : [])],
      request: { type: 'array', items: refTo(`${typed.table.choices.clientName}Create`) }
    }
  ]
}

/** Returns the calls of a table, in the order of the document. */
export const callsOf = (parts: OperationParts): readonly Call[] => [
  ...listCalls(parts),
  ...recordCalls(parts),
  ...bulkCalls(parts),
  {
    isAllowed: parts.typed.canRead,
    path: parts.paths.schema,
    method: 'get',
    generic: parts.generic.readSchema,
    verb: 'read',
    suffix: 'Schema',
    summary: 'Read the fields',
    description: 'Returns the fields and their types.'
  }
]

import type { FilterPart, Operator } from './query.ts'

// The names that SQL, PostgREST, json-server, Django, OData and MongoDB use, in lower case and without `_`, `$` and `-`.
// A request with one of them fails. The hint of the error shows the line that works: services/model/suggestions.ts.

/** By the name that was sent: the parameters and properties that mean the same. A hint names the first that the route has. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  limit: ['size'],
  perpage: ['size'],
  pagesize: ['size'],
  top: ['size'],
  take: ['size'],
  first: ['size'],
  rows: ['size'],
  pagenumber: ['page', 'cursor'],
  offset: ['page', 'cursor'],
  skip: ['page', 'cursor'],
  start: ['page', 'cursor'],
  page: ['cursor'],
  after: ['cursor'],
  next: ['cursor'],
  pagetoken: ['cursor'],
  sort: ['order'],
  sortby: ['order'],
  orderby: ['order'],
  sortasc: ['order'],
  sortdesc: ['order'],
  dir: ['order'],
  direction: ['order'],
  sortdir: ['order'],
  sortorder: ['order'],
  select: ['fields'],
  columns: ['fields'],
  attributes: ['fields'],
  search: ['q'],
  query: ['q'],
  like: ['q'],
  ilike: ['q'],
  text: ['q'],
  where: ['filter'],
  filters: ['filter'],
  conditions: ['filter'],
  include: ['expand'],
  embed: ['expand'],
  populate: ['expand'],
  group: ['groupBy'],
  aggregate: ['compute'],
  aggregates: ['compute'],
  id: ['pk'],
  pk: ['isPrimary'],
  primary: ['isPrimary'],
  primarykey: ['isPrimary'],
  type: ['jsonType'],
  default: ['defaultValue'],
  tables: ['permissions'],
  actions: ['permissions'],
  by: ['count'],
  amount: ['count'],
  value: ['count'],
  key: ['pk'],
  data: ['values'],
  record: ['values']
}

/** By the operator that was sent. */
const otherOperators: Readonly<Record<string, Operator>> = {
  '=': 'eq',
  '==': 'eq',
  is: 'eq',
  equals: 'eq',
  exact: 'eq',
  '!=': 'ne',
  '<>': 'ne',
  neq: 'ne',
  not: 'ne',
  '>': 'gt',
  '>=': 'gte',
  ge: 'gte',
  min: 'gte',
  '<': 'lt',
  '<=': 'lte',
  le: 'lte',
  max: 'lte',
  nin: 'notIn',
  null: 'isNull',
  fts: 'contains',
  plfts: 'contains',
  phfts: 'contains',
  wfts: 'contains',
  like: 'contains',
  ilike: 'contains',
  icontains: 'contains',
  istartswith: 'startsWith',
  iendswith: 'endsWith'
}

/** By the part of a filter that was sent. */
const otherParts: Readonly<Record<string, FilterPart>> = {
  all: 'all',
  and: 'all',
  '&&': 'all',
  any: 'any',
  or: 'any',
  '||': 'any',
  none: 'none',
  not: 'none',
  nor: 'none',
  '!': 'none'
}

/** By the value of an enum that was sent: operations, JSON types and actions. */
const otherValues: Readonly<Record<string, string>> = {
  insert: 'create',
  add: 'create',
  put: 'update',
  patch: 'update',
  merge: 'upsert',
  remove: 'delete',
  increment: 'incr',
  inc: 'incr',
  text: 'string',
  varchar: 'string',
  int: 'integer',
  bigint: 'integer',
  float: 'number',
  real: 'number',
  double: 'number',
  numeric: 'number',
  decimal: 'number',
  bool: 'boolean',
  json: 'object',
  select: 'read'
}

/** The names of a position, which counts records from 0. */
const OFFSETS = ['offset', 'skip', 'start']

interface OtherPath {
  readonly methods: readonly string[]
  readonly sent: RegExp
  /** The path that works, with the groups of `sent`. */
  readonly path: string
  /** A sentence about its response. */
  readonly note?: string
}

const MANY = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']

/** Paths without a route, and the paths of the routes that do the same. */
export const otherPaths: readonly OtherPath[] = [
  {
    methods: ['GET', 'HEAD'],
    sent: /^\/data\/(?!_)([^/]+)\/count$/,
    path: '/data/$1?size=1',
    note: '`total` is the number of records.'
  },
  { methods: MANY, sent: /^\/data\/(?!_)([^/]+)\/([^/]+)$/, path: '/data/$1/records/$2' },
  { methods: MANY, sent: /^\/admin\/tables\/(\d+)\/records\/([^/]+)$/, path: '/admin/tables/$1/data/$2' },
  { methods: ['GET', 'HEAD', 'POST'], sent: /^\/admin\/tables\/(\d+)\/records$/, path: '/admin/tables/$1/data' }
]

/** The same for paths that have a route, but not for these methods. */
export const otherMethods: readonly OtherPath[] = [
  { methods: ['POST'], sent: /^\/data\/(?!_)([^/]+)$/, path: '/data/$1/records' },
  { methods: ['GET', 'HEAD'], sent: /^\/data\/(?!_)([^/]+)\/records$/, path: '/data/$1' },
  { methods: ['POST'], sent: /^\/admin\/tables\/(\d+)$/, path: '/admin/tables/$1/data' }
]

/** Returns a name without case, `_`, `$` and `-`. */
const plain = (name: string) => name.toLowerCase().replaceAll(/[_$-]/g, '')

/** Returns the first of these names that a name of another service stands for. */
export const knownName = (sent: string, names: readonly string[]): string | undefined => {
  const plainName = plain(sent)
  const others = Object.hasOwn(otherNames, plainName) ? otherNames[plainName] : undefined
  return [plainName, ...(others ?? [])].flatMap((other) => names.find((name) => plain(name) === plain(other)) ?? [])[0]
}

/** Returns the operator that an operator of another service stands for. */
export const knownOperator = (sent: string, operators: readonly Operator[]): Operator | undefined => {
  const plainName = plain(sent)
  return (
    operators.find((name) => plain(name) === plainName) ??
    (Object.hasOwn(otherOperators, plainName) ? otherOperators[plainName] : undefined)
  )
}

/** Returns the part of a filter that a name of another service stands for. */
export const knownPart = (sent: string): FilterPart | undefined => {
  const plainName = plain(sent)
  return Object.hasOwn(otherParts, plainName) ? otherParts[plainName] : undefined
}

/** Returns the value that a value of another service stands for; the same value if there is none. */
export const knownValue = (sent: string): string => {
  const plainName = plain(sent)
  return Object.hasOwn(otherValues, plainName) ? String(otherValues[plainName]) : sent
}

/** Whether a name of another service stands for the number of records before the page. */
export const isOffset = (sent: string) => OFFSETS.includes(plain(sent))

/** Whether a name of another service sorts in descending order. */
export const isDescendingName = (sent: string) => plain(sent).endsWith('desc')

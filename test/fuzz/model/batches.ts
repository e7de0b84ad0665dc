import type { OperationName } from '../../../schemas/batch.ts'
import {
  CONFIRMED,
  invalid,
  type Model,
  type Need,
  Refusal,
  type Registered,
  refuse,
  type Viewer,
  visibleFields
} from './model.ts'
import { isMatch } from './queries.ts'
import {
  type Body,
  type Change,
  change,
  checkResultAsKey,
  isWritable,
  prepareCreate,
  prepareDelete,
  prepareIncrement,
  prepareUpdate,
  Result,
  type Run,
  readBody,
  resolve,
  storedForWrite,
  storedOf
} from './records.ts'
import type { Row, StoredTable } from './stored-tables.ts'
import { prepareUpsert } from './upserts.ts'
import type { Stored } from './values.ts'

/** A change of all rows that match. */
interface FilteredChange {
  readonly matches: (row: Row) => boolean
  readonly maxAffected: number
}

const affectedRows = ({ rows }: StoredTable, { matches, maxAffected }: FilteredChange) => {
  const affected = rows.filter(matches)
  return affected.length > maxAffected ? refuse(409, 'TOO_MANY_AFFECTED') : affected
}

const countOf = ({ length }: readonly Row[]) => ({ ...CONFIRMED, affected: length })

export const prepareFilteredUpdate = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  { body, ...filtered }: FilteredChange & { readonly body: Body }
): Change => {
  const stored = storedForWrite(model, table)
  const sent = readBody(table, viewer, body)
  if (sent.length === 0 || sent.some(([field]) => field.isPrimary || !isWritable(table, field))) invalid()
  return (run) => {
    const rows = affectedRows(stored, filtered)
    for (const row of rows) change(model, table, row, resolve(table, sent, run))
    return { data: countOf(rows) }
  }
}

export const prepareFilteredDelete = (model: Model, table: Registered, filtered: FilteredChange): Change => {
  const stored = storedForWrite(model, table)
  return () => {
    const rows = affectedRows(stored, filtered)
    stored.rows = stored.rows.filter((row) => !rows.includes(row))
    return { data: countOf(rows) }
  }
}

/** An operation of a request. */
export interface Operation {
  readonly op: OperationName
  readonly table: string
  readonly pk?: unknown
  readonly values?: Body
  readonly on?: readonly string[]
  readonly field?: string
  readonly count?: number | string
  readonly filter?: object
  readonly maxAffected?: number
  readonly onConflict?: string
}

/** The tables that the caller of a batch can use. */
export interface Access {
  readonly viewer: Viewer
  /** Returns the table, or refuses. `needs`: the actions of the operation. */
  readonly open: (name: string, needs: readonly Need[]) => Registered
  readonly mayRead: (table: Registered) => boolean
}

const NEEDS: Record<OperationName, readonly Need[]> = {
  create: ['create'],
  upsert: ['create', 'update'],
  update: ['update'],
  delete: ['delete'],
  incr: ['update']
}

const needsOf = ({ op, filter }: Operation): readonly Need[] => (filter ? [...NEEDS[op], 'read'] : NEEDS[op])

/** Needed members, then optional ones. */
const MEMBERS: Record<string, readonly [readonly string[], readonly string[]]> = {
  create: [['values'], ['onConflict']],
  upsert: [['values'], ['on']],
  update: [['pk', 'values'], []],
  delete: [['pk'], []],
  incr: [['pk', 'field'], ['count']],
  'update by filter': [['filter', 'maxAffected', 'values'], []],
  'delete by filter': [['filter', 'maxAffected'], []]
}

const checkMembers = ({ op, table: _, ...sent }: Operation) => {
  const byFilter = MEMBERS[`${op} by filter`]
  const [needed, optional] = (sent.filter && byFilter) || (MEMBERS[op] ?? [[], []])
  const names = Object.keys(sent)
  if (needed.some((name) => !names.includes(name))) invalid()
  if (names.some((name) => !needed.includes(name) && !optional.includes(name))) invalid()
}

const isSentResult = (value: unknown): value is { readonly $result: number; readonly field: string } =>
  typeof value === 'object' && value !== null && '$result' in value

/** Turns the operations of a batch into changes, in their order. */
const createPreparation = (model: Model, { viewer, open, mayRead }: Access) => {
  /** The tables of the records that later operations can use, by the position of the operation. */
  const sources = new Map<number, Registered>()

  const toResult = (value: unknown) => {
    if (!isSentResult(value)) return value
    const source = sources.get(value.$result) ?? invalid()
    const field = visibleFields(source, viewer).find(({ name }) => name === value.field) ?? invalid()
    return new Result(value.$result, field)
  }

  const readKey = (table: Registered, sent: unknown) => {
    const pk = toResult(sent)
    if (!(pk instanceof Result)) return String(pk)
    checkResultAsKey(table, pk)
    return pk
  }

  const readValues = ({ values = {} }: Operation): Body =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toResult(value)]))

  const prepareFiltered = (table: Registered, operation: Operation): Change => {
    const { op, filter, maxAffected = 0 } = operation
    storedForWrite(model, table)
    const filtered = { matches: isMatch(visibleFields(table, viewer), { filter, order: [] }), maxAffected }
    if (op === 'delete') return prepareFilteredDelete(model, table, filtered)
    return prepareFilteredUpdate(model, table, viewer, { body: readValues(operation), ...filtered })
  }

  const prepareOne: Record<OperationName, (table: Registered, operation: Operation) => Change> = {
    create: (table, operation) =>
      prepareCreate(model, table, viewer, readValues(operation), operation.onConflict === 'ignore'),
    upsert: (table, operation) => {
      storedForWrite(model, table)
      const { on = table.key } = operation
      return prepareUpsert(model, table, viewer, { body: readValues(operation), on, mayRead: mayRead(table) })
    },
    update: (table, operation) => {
      const pk = readKey(table, operation.pk)
      return prepareUpdate(model, table, viewer, { pk, body: readValues(operation), mayRead: mayRead(table) })
    },
    delete: (table, { pk }) => prepareDelete(model, table, viewer, { pk: readKey(table, pk), mayRead: mayRead(table) }),
    incr: (table, { pk, field = '', count = 1 }) =>
      prepareIncrement(model, table, viewer, { pk: readKey(table, pk), field, count, mayRead: mayRead(table) })
  }

  return (operation: Operation, position: number): Change => {
    checkMembers(operation)
    const { op, table: name, filter, onConflict } = operation
    const table = open(name, needsOf(operation))
    storedOf(model, table)
    const prepared = filter ? prepareFiltered(table, operation) : prepareOne[op](table, operation)
    if (op === 'upsert' || (op === 'create' && onConflict === undefined)) sources.set(position, table)
    return prepared
  }
}

/** Adds the position of the operation to a Refusal. */
const at = <T>(operation: number, rule: () => T): T => {
  try {
    return rule()
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(error.status, error.code, operation) : error
  }
}

const copyRows = ({ rows }: StoredTable): Row[] => rows.map((row) => new Map(row))

/** Stores all changes or none. Returns the data of each. */
const runAll = (model: Model, changes: readonly Change[], returned: readonly Body[]) => {
  const before = new Map(
    model.stored.map((stored) => [stored, { rows: copyRows(stored), sequence: stored.sequence }] as const)
  )
  const results = new Map<number, Row>()
  const run: Omit<Run, 'returned'> = {
    rowsBefore: (stored) => before.get(stored)?.rows ?? [],
    resultOf: ({ operation, field }): Stored => results.get(operation)?.get(field.name) ?? null
  }
  try {
    return changes.map((change, position) => {
      const { data, row } = at(position, () => change({ ...run, returned: returned[position] }))
      if (row) results.set(position, new Map(row))
      return data
    })
  } catch (error) {
    for (const [stored, state] of before) Object.assign(stored, state)
    throw error
  }
}

/** `returned` is the data of the response. Only random keys of SQLite are read from it. */
export const runBatch = (
  model: Model,
  access: Access,
  operations: readonly Operation[],
  returned: Body | undefined
) => {
  const prepare = createPreparation(model, access)
  const changes = operations.map((operation, position) => at(position, () => prepare(operation, position)))
  return { results: runAll(model, changes, (returned?.results ?? []) as readonly Body[]) }
}

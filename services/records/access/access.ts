import { LRUCache } from 'lru-cache'
import type { IntegerFormat } from '../../../schemas/token.ts'
import type { TableAction } from '../../model/actions.ts'
import type { Caller, KeyRole } from '../../model/caller.ts'
import { DomainError, excerpt } from '../../model/errors.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { type Column, isRequired, type RegisteredTable } from '../../model/table.ts'
import { shownColumns } from '../../model/visible-fields.ts'
import type { Condition, RowRule } from '../../sql/conditions.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { keyParser } from '../../sql/keys.ts'
import type { Expansion, RecordShape } from '../../sql/record-shape.ts'
import { csvText, jsonText, type RecordText } from '../../sql/record-text.ts'
import { type Assignment, type RecordStatements, recordStatements } from '../../sql/records.ts'
import type { Param } from '../../sql/statement.ts'
import { tableOutdated } from '../../tables/failures.ts'
import { type Limits, type LimitsOf, type Opened, openColumns, openLimited } from './opened.ts'

/** The columns that a response shows of each record. */
export interface Projection {
  readonly columns: readonly Column[]
  readonly shape: RecordShape
  readonly json: RecordText
  /** Returns the text of a record as one line of CSV, without its line end. */
  csv(escapesFormulas: boolean): RecordText
}

/** What a caller can read and change in a table, with the SQL that does not depend on the request. */
export interface Access {
  readonly table: RegisteredTable
  readonly dialect: Dialect
  readonly integers: IntegerFormat
  /** The visible columns, by their exact names. */
  readonly columns: ReadonlyMap<string, Column>
  /** The columns that values may name: the visible ones, and those that a role opens only for writing. */
  readonly accepted: ReadonlyMap<string, Column>
  /** The accepted columns that are not read-only. */
  readonly writable: ReadonlySet<Column>
  /** The condition of the rows that the caller can read and change. null: all of them. */
  readonly rows: Condition | null
  /** The rule that `rows` follows. A statement that has the table under another name needs it. */
  readonly rowRule: RowRule | null
  /** The columns that a new record must have, including columns that are not visible. */
  readonly required: readonly Column[]
  /** What each new record gets by the role of the caller. */
  readonly presets: readonly Assignment[]
  /** All visible columns. */
  readonly all: Projection
  /** Returns the projection of these visible columns, with the records to which they refer. */
  project(columns: readonly Column[], expansions: readonly Expansion[]): Projection
  /** Returns the values of a key, or undefined if no key has this text. */
  parseKey(text: string): readonly SqlValue[] | undefined
  /** Returns the parameters of `statements.match` for the values of a key. */
  matchParams<P extends Param>(key: readonly P[]): readonly (P | SqlValue)[]
  readonly statements: RecordStatements
}

/** Limits of the cached projections of an access, and of their SQL in characters: clients choose the fields of a record. */
const PROJECTION_CACHE = {
  max: 100,
  maxSize: 2 ** 18,
  sizeCalculation: ({ json }: Projection) => json.text.length + json.width.length
}

/**
 * Creates the function that returns the parts of a cache key for an expansion. A shape has a number: an expanded table can
 * change while this access stays, so its name is not enough.
 */
const createExpansionKeys = () => {
  const numbers = new WeakMap<RecordShape, number>()
  let count = 0

  const numberOf = (shape: RecordShape) => {
    const number = numbers.get(shape) ?? count++
    numbers.set(shape, number)
    return number
  }

  const keyOf = ({ column, shape, expansions }: Expansion): readonly unknown[] => [
    column,
    numberOf(shape),
    expansions.map(keyOf)
  ]
  return keyOf
}

interface AccessOptions extends Opened {
  readonly dialect: Dialect
  readonly integers: IntegerFormat
}

const byName = (columns: readonly Column[]) => new Map(columns.map((column) => [column.name, column]))

/** @throws STRUCTURE_CHANGED for an outdated table */
const createAccess = (table: RegisteredTable, options: AccessOptions): Access => {
  const { dialect, integers, visible, accepted, writable, rowRule, presets } = options
  if (table.isOutdated) throw tableOutdated(table.name)
  const { name, structure } = table
  const createProjection = (columns: readonly Column[], expansions: readonly Expansion[] = []): Projection => {
    const shape = { tableName: name, isStrict: structure.isStrict, columns, dialect, integers, expansions }
    return { columns, shape, json: jsonText(shape), csv: (escapesFormulas) => csvText(shape, escapesFormulas) }
  }
  const all = createProjection(visible)
  const projections = new LRUCache<string, Projection>(PROJECTION_CACHE)
  const expansionKey = createExpansionKeys()
  const project = (columns: readonly Column[], expansions: readonly Expansion[]) => {
    const key = JSON.stringify([columns.map((column) => column.name), expansions.map(expansionKey)])
    const cached = projections.get(key)
    if (cached) return cached
    const projection = createProjection(columns, expansions)
    projections.set(key, projection)
    return projection
  }
  const rows = rowRule?.(table) ?? null
  return {
    table,
    dialect,
    integers,
    columns: byName(visible),
    accepted: byName(accepted),
    writable: new Set(writable),
    rows,
    rowRule,
    required: structure.columns.filter(
      (column) => isRequired(structure, column) && !presets.some(([preset]) => preset === column)
    ),
    presets,
    all,
    project,
    parseKey: keyParser(structure),
    matchParams: (key) => (rows ? [...key, ...rows.params] : key),
    statements: recordStatements(table, all.json, dialect, rows)
  }
}

/** Returns the access of a caller to a table, for all of these actions together. @throws STRUCTURE_CHANGED for an outdated table, ACTION_NOT_ALLOWED */
export type AccessOf = (caller: Caller, table: RegisteredTable, actions: readonly TableAction[]) => Access

/** The kinds of callers that see hidden columns. */
const SEE_HIDDEN: readonly Caller['kind'][] = ['admin', 'local', 'service']

const seesHidden = ({ kind }: Caller) => SEE_HIDDEN.includes(kind)

const closedByRole = ({ name }: RegisteredTable) =>
  new DomainError(
    'ACTION_NOT_ALLOWED',
    `The role of the key does not open the table '${excerpt(name)}' for this request.`,
    {
      hint: 'GET /data/_me shows what the role opens.'
    }
  )

interface LimitedAccess {
  /** Those of reading, then those of the actions. */
  readonly limits: readonly (Limits | null)[]
  readonly access: Access
}

/**
 * Creates the function that decides what a caller can read and change in a table.
 * Callers without a role share an access. A registered table is immutable, so it is valid as long as the table.
 */
export const createAccessOf = (dialect: Dialect, limitsOf: LimitsOf): AccessOf => {
  const shared = new Map<string, WeakMap<RegisteredTable, Access>>()
  const limited = new WeakMap<KeyRole, WeakMap<RegisteredTable, Map<string, LimitedAccess>>>()

  const sharedAccess = (caller: Caller, table: RegisteredTable) => {
    const name = seesHidden(caller) ? 'all columns' : caller.integers
    const cache = shared.get(name) ?? new WeakMap<RegisteredTable, Access>()
    shared.set(name, cache)
    const cached = cache.get(table)
    if (cached) return cached
    const columns = seesHidden(caller) ? table.structure.columns : shownColumns(table)
    const access = createAccess(table, { dialect, integers: caller.integers, ...openColumns(columns) })
    cache.set(table, access)
    return access
  }

  const limitedAccess = (
    role: KeyRole,
    { integers }: Caller,
    table: RegisteredTable,
    actions: readonly TableAction[]
  ) => {
    if (actions.length === 0) throw new Error('A key with a role needs an action.')
    const limits = actions.map((action) => {
      const found = limitsOf(role, action, table)
      if (!found) throw closedByRole(table)
      return found
    })
    const shown = limitsOf(role, 'read', table)
    // An upsert returns the record, which may have existed.
    const isUpsert = actions.includes('create') && actions.includes('update')
    const used = isUpsert && shown ? [...limits, shown] : limits
    const ofRole = limited.get(role) ?? new WeakMap<RegisteredTable, Map<string, LimitedAccess>>()
    limited.set(role, ofRole)
    const ofTable = ofRole.get(table) ?? new Map<string, LimitedAccess>()
    ofRole.set(table, ofTable)
    const cached = ofTable.get(actions.join())
    const made = [shown, ...used]
    if (cached?.limits.every((one, index) => one === made[index])) return cached.access
    const access = createAccess(table, { dialect, integers, ...openLimited(table, used, shown) })
    ofTable.set(actions.join(), { limits: made, access })
    return access
  }

  return (caller, table, actions) =>
    caller.role ? limitedAccess(caller.role, caller, table, actions) : sharedAccess(caller, table)
}

import { LRUCache } from 'lru-cache'
import type { IntegerFormat } from '../../../schemas/token.ts'
import type { Caller } from '../../model/caller.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { type Column, isRequired, type RegisteredTable } from '../../model/table.ts'
import type { Condition, RowRule } from '../../sql/conditions.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { keyParser } from '../../sql/keys.ts'
import type { Expansion, RecordShape } from '../../sql/record-shape.ts'
import { csvText, jsonText, type RecordText } from '../../sql/record-text.ts'
import { type RecordStatements, recordStatements } from '../../sql/records.ts'
import type { Param } from '../../sql/statement.ts'
import { tableOutdated } from '../../tables/failures.ts'

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
  /** The visible columns that are not read-only. */
  readonly writable: ReadonlySet<Column>
  /** The condition of the rows that the caller can read and change. null: all of them. */
  readonly rows: Condition | null
  /** The rule that `rows` follows. A statement that has the table under another name needs it. */
  readonly rowRule: RowRule | null
  /** The columns that a new record must have, including columns that are not visible. */
  readonly required: readonly Column[]
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

interface AccessOptions {
  readonly dialect: Dialect
  readonly visible: readonly Column[]
  readonly integers: IntegerFormat
  readonly rowRule: RowRule | null
}

/** @throws STRUCTURE_CHANGED for an outdated table */
const createAccess = (table: RegisteredTable, { dialect, visible, integers, rowRule }: AccessOptions): Access => {
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
    columns: new Map(visible.map((column) => [column.name, column])),
    writable: new Set(visible.filter((column) => !column.isReadonly)),
    rows,
    rowRule,
    required: structure.columns.filter((column) => isRequired(structure, column)),
    all,
    project,
    parseKey: keyParser(structure),
    matchParams: (key) => (rows ? [...key, ...rows.params] : key),
    statements: recordStatements(table, all.json, dialect, rows)
  }
}

const shownColumns = ({ structure }: RegisteredTable) => structure.columns.filter((column) => !column.isHidden)

/** Returns the rule for the rows of a table that a caller can read and change. null: all rows. */
export type RowRuleOf = (caller: Caller, table: RegisteredTable) => RowRule | null

/** Returns the access of a caller to a table. @throws STRUCTURE_CHANGED for an outdated table */
export type AccessOf = (caller: Caller, table: RegisteredTable) => Access

/** The kinds of callers that see hidden columns. */
const SEE_HIDDEN: readonly Caller['kind'][] = ['admin', 'local', 'service']

const seesHidden = ({ kind }: Caller) => SEE_HIDDEN.includes(kind)

const allRows: RowRuleOf = () => null

/**
 * Creates the function that decides what a caller can read and change in a table.
 * Callers without a rule share an access. A registered table is immutable, so it is valid as long as the table.
 */
export const createAccessOf = (dialect: Dialect, rowRuleOf: RowRuleOf = allRows): AccessOf => {
  const shared = new Map<string, WeakMap<RegisteredTable, Access>>()

  const cacheOf = (caller: Caller) => {
    const name = seesHidden(caller) ? 'all columns' : caller.integers
    const cached = shared.get(name) ?? new WeakMap<RegisteredTable, Access>()
    shared.set(name, cached)
    return cached
  }

  return (caller, table) => {
    const rowRule = rowRuleOf(caller, table)
    const cache = rowRule ? null : cacheOf(caller)
    const cached = cache?.get(table)
    if (cached) return cached
    const visible = seesHidden(caller) ? table.structure.columns : shownColumns(table)
    const access = createAccess(table, { dialect, visible, integers: caller.integers, rowRule })
    cache?.set(table, access)
    return access
  }
}

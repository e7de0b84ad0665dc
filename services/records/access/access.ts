import type { IntegerFormat } from '../../../schemas/token.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { type Column, isRequired, type RegisteredTable } from '../../model/table.ts'
import type { Condition, RowRule } from '../../sql/conditions.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { keyParser } from '../../sql/keys.ts'
import type { Expansion, RecordShape } from '../../sql/record-shape.ts'
import { jsonText, type RecordForm } from '../../sql/record-text.ts'
import {
  type Assignment,
  createSqlTexts,
  type RecordStatements,
  recordStatements,
  type SqlTexts
} from '../../sql/records.ts'
import { createSharedCache, type SharedCache } from '../../sql/shared-cache.ts'
import type { Param } from '../../sql/statement.ts'
import { tableOutdated } from '../../tables/failures.ts'
import type { Opened } from './opened.ts'

/** The columns that a response shows of each record. Keys share it: it holds no values. */
export interface Projection {
  readonly columns: readonly Column[]
  readonly shape: RecordShape
  readonly json: RecordForm
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
  readonly presetColumns: ReadonlySet<Column>
  /** Whether a change may be compared with the stored record. Otherwise it could reveal a record that the caller cannot read. */
  readonly mayCompare: boolean
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
  sizeCalculation: ({ json }: Projection, key: string) => json.text.length + json.width.length + key.length
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

  const keyOf = ({ column, rule, shape, expansions }: Expansion): readonly unknown[] => [
    column,
    rule,
    numberOf(shape),
    expansions.map(keyOf)
  ]
  return keyOf
}

const byName = (columns: readonly Column[]) => new Map(columns.map((column) => [column.name, column]))

interface FormOptions {
  readonly dialect: Dialect
  readonly integers: IntegerFormat
}

/**
 * What an access has in common with those of other keys whose roles open the same fields, by rules with the same SQL. It has
 * the large parts, and no values: `createAccess` adds those of a key.
 */
export interface AccessForm extends FormOptions {
  readonly columns: ReadonlyMap<string, Column>
  readonly accepted: ReadonlyMap<string, Column>
  readonly writable: ReadonlySet<Column>
  readonly presetColumns: ReadonlySet<Column>
  readonly required: readonly Column[]
  readonly all: Projection
  readonly projections: SharedCache<Projection>
  readonly texts: SqlTexts
}

const createProjection = (
  { name, structure }: RegisteredTable,
  { dialect, integers }: FormOptions,
  { columns, expansions }: Pick<RecordShape, 'columns' | 'expansions'>
): Projection => {
  const shape = {
    tableName: name,
    isStrict: structure.isStrict,
    columns,
    dialect,
    integers,
    ...(expansions && { expansions })
  }
  return { columns, shape, json: jsonText(shape) }
}

export const createForm = (
  table: RegisteredTable,
  { visible, accepted, writable, presets }: Opened,
  options: FormOptions
): AccessForm => {
  const { structure } = table
  const presetColumns = new Set(presets.map(([column]) => column))
  return {
    ...options,
    columns: byName(visible),
    accepted: byName(accepted),
    writable: new Set(writable),
    presetColumns,
    required: structure.columns.filter((column) => isRequired(structure, column) && !presetColumns.has(column)),
    all: createProjection(table, options, { columns: visible }),
    projections: createSharedCache<Projection>(PROJECTION_CACHE),
    texts: createSqlTexts()
  }
}

const expansionKey = createExpansionKeys()

/** Creates the function that returns the projections of a form. */
const createProject =
  (table: RegisteredTable, form: AccessForm): Access['project'] =>
  (columns, expansions) => {
    const key = JSON.stringify([columns.map((column) => column.name), expansions.map(expansionKey)])
    const cached = form.projections.get(key)
    if (cached) return cached
    const projection = createProjection(table, form, { columns, expansions })
    form.projections.set(key, projection)
    return projection
  }

/** @throws STRUCTURE_CHANGED for an outdated table */
export const createAccess = (
  table: RegisteredTable,
  { rowRule, presets, mayCompare }: Opened,
  form: AccessForm
): Access => {
  if (table.isOutdated) throw tableOutdated(table.name)
  const { texts, projections: _, ...shared } = form
  const rows = rowRule?.(table) ?? null
  return {
    ...shared,
    table,
    rows,
    rowRule,
    presets,
    mayCompare,
    project: createProject(table, form),
    parseKey: keyParser(table.structure),
    matchParams: (key) => (rows ? [...key, ...rows.params] : key),
    statements: recordStatements(table, form.all.json, { dialect: form.dialect, rows, texts })
  }
}

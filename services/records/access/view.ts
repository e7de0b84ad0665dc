import { LRUCache } from 'lru-cache'
import type { IntegerFormat } from '../../../schemas/token.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { type Column, isRequired, type RegisteredTable } from '../../model/table.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { keyParser } from '../../sql/keys.ts'
import type { Expansion, RecordShape } from '../../sql/record-shape.ts'
import { csvText, jsonText, type RecordText } from '../../sql/record-text.ts'
import { type RecordStatements, recordStatements } from '../../sql/records.ts'
import { tableOutdated } from '../../tables/failures.ts'

/** The columns that a response shows of each record. */
export interface Projection {
  readonly columns: readonly Column[]
  readonly shape: RecordShape
  readonly json: RecordText
  /** Returns the text of a record as one line of CSV, without its line end. */
  csv(escapesFormulas: boolean): RecordText
}

/** A table as tokens or administrators see it, with the SQL that does not depend on the request. */
export interface View {
  readonly table: RegisteredTable
  readonly dialect: Dialect
  readonly integers: IntegerFormat
  /** The visible columns, by their exact names. */
  readonly columns: ReadonlyMap<string, Column>
  /** The columns that a new record must have, including columns that are not visible. */
  readonly required: readonly Column[]
  /** All visible columns. */
  readonly all: Projection
  /** Returns the projection of these visible columns, with the records to which they refer. */
  project(columns: readonly Column[], expansions: readonly Expansion[]): Projection
  /** Returns the parameters of `statements` for the record with this key, or undefined if no key has this text. */
  parseKey(text: string): readonly SqlValue[] | undefined
  readonly statements: RecordStatements
}

/** Limits of the cached projections of a view, and of their SQL in characters: clients choose the fields of a record. */
const PROJECTION_CACHE = {
  max: 100,
  maxSize: 2 ** 18,
  sizeCalculation: ({ json }: Projection) => json.text.length + json.width.length
}

/**
 * Creates the function that returns the parts of a cache key for an expansion. A shape has a number: an expanded table can
 * change while this view stays, so its name is not enough.
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

/** @throws STRUCTURE_CHANGED for an outdated table */
const createView = (
  dialect: Dialect,
  table: RegisteredTable,
  visible: readonly Column[],
  integers: IntegerFormat
): View => {
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
  return {
    table,
    dialect,
    integers,
    columns: new Map(visible.map((column) => [column.name, column])),
    required: structure.columns.filter((column) => isRequired(structure, column)),
    all,
    project,
    parseKey: keyParser(structure),
    statements: recordStatements(table, all.json, dialect)
  }
}

type VisibleColumns = (table: RegisteredTable) => readonly Column[]

const allColumns: VisibleColumns = ({ structure }) => structure.columns
const shownColumns: VisibleColumns = ({ structure }) => structure.columns.filter((column) => !column.isHidden)

/** Caches views. A registered table is immutable, so its view is valid as long as the table. */
const cachedViews = (dialect: Dialect, integers: IntegerFormat, visibleColumns: VisibleColumns) => {
  const views = new WeakMap<RegisteredTable, View>()
  return (table: RegisteredTable): View => {
    const cached = views.get(table)
    if (cached) return cached
    const view = createView(dialect, table, visibleColumns(table), integers)
    views.set(table, view)
    return view
  }
}

/** Views of registered tables, in the SQL dialect of one database. */
export const createViews = (dialect: Dialect) => {
  const viewsOf = (integers: IntegerFormat) => cachedViews(dialect, integers, shownColumns)
  const tokenViews = { auto: viewsOf('auto'), number: viewsOf('number'), string: viewsOf('string') }
  return {
    administratorView: cachedViews(dialect, 'auto', allColumns),
    /** The view of a token with this format of integers. */
    tokenView: (table: RegisteredTable, integers: IntegerFormat) => tokenViews[integers](table)
  }
}

export type Views = ReturnType<typeof createViews>

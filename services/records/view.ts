import type { SqlValue } from '../model/sql-value.ts'
import { type Column, isRequired, type RegisteredTable } from '../model/table.ts'
import { keyParser } from '../sql/keys.ts'
import { csvText, jsonText, type RecordText } from '../sql/record-text.ts'
import { type RecordStatements, recordStatements } from '../sql/records.ts'
import { tableOutdated } from '../tables/failures.ts'

/** A table as one audience sees it, with the SQL that follows from that and no request changes. */
export interface View {
  readonly table: RegisteredTable
  /** The visible columns, by their exact names. */
  readonly columns: ReadonlyMap<string, Column>
  /** What a new record must have: columns that are not visible may be among them. */
  readonly required: readonly Column[]
  readonly json: RecordText
  /** The parameters of `statements` for the record with this key; undefined where it is no spelling of any. */
  parseKey(text: string): readonly SqlValue[] | undefined
  readonly statements: RecordStatements
  /** Without line ends. `guard`: against formulas. */
  csv(guard: boolean): RecordText
}

/** @throws STRUCTURE_CHANGED for an outdated table */
const createView = (table: RegisteredTable, visible: readonly Column[]): View => {
  if (table.isOutdated) throw tableOutdated(table.name)
  const { structure } = table
  const { isStrict } = structure
  const json = jsonText(visible, isStrict)
  return {
    table,
    columns: new Map(visible.map((column) => [column.name, column])),
    required: structure.columns.filter((column) => isRequired(structure, column)),
    json,
    parseKey: keyParser(structure),
    statements: recordStatements(table, json),
    csv: (guard) => csvText(visible, isStrict, guard)
  }
}

/** A registered table is immutable, so a view lives as long as the table that it shows. */
const remembered = (select: (table: RegisteredTable) => readonly Column[]) => {
  const views = new WeakMap<RegisteredTable, View>()
  return (table: RegisteredTable): View => {
    const known = views.get(table)
    if (known) return known
    const view = createView(table, select(table))
    views.set(table, view)
    return view
  }
}

export const administratorView = remembered(({ structure }) => structure.columns)

export const tokenView = remembered(({ structure }) => structure.columns.filter((column) => !column.isHidden))

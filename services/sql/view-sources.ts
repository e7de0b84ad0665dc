import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { Origin, ViewSources } from '../model/table.ts'
import { isKeyword, nameIn, textIn, tokenTexts } from './lexer.ts'
import type { Statement } from './statement.ts'

/** Describes the columns of an SQL view as generated columns. Fails with SQLite's reason if they cannot be found out. */
export const describeView = (name: string): Statement => ({
  sql: `SELECT json_group_array(json_object('name', name, 'type', type, 'notNull', 0, 'defaultSql', NULL,
    'keyPosition', 0, 'hidden', 2) ORDER BY cid) AS stored_columns FROM temp.pragma_table_xinfo(?)`,
  params: [name]
})

/** What SQLite reports of an SQL view that it has prepared. */
export interface PreparedView {
  readonly name: string
  /** `origin`: the stored column that SQLite reports for a column of the view. */
  readonly columns: readonly { readonly name: string; readonly origin: Origin | null }[]
  /** The tables that its program opens. */
  readonly opened: readonly string[]
  /** `name`, `type`, `rootpage` and `sql` of each table and view of the file. */
  readonly declarations: readonly Row[]
}

/** SQLite reports the origins of the last arm only. */
const COMPOUND = ['UNION', 'INTERSECT', 'EXCEPT', 'VALUES']

const isCompound = (sql: string) => tokenTexts(sql).some((token) => COMPOUND.some((word) => isKeyword(token, word)))

/** Returns the folded names in a statement, also those of columns. SQLite accepts a text as the name of a table. */
const namesIn = (sql: string) =>
  tokenTexts(sql)
    .flatMap((token) => nameIn(token) ?? textIn(token) ?? [])
    .map(foldName)

/** Returns the folded names of the views and virtual tables that a view names, itself included, and that they name. */
const reachedFrom = (view: string, sqlOf: ReadonlyMap<string, string>) => {
  const reached = new Set<string>()
  const visit = (name: string) => {
    const sql = sqlOf.get(name)
    if (sql === undefined || reached.has(name)) return
    reached.add(name)
    for (const other of namesIn(sql)) visit(other)
  }
  visit(foldName(view))
  return reached
}

/**
 * Returns what a view reads. It has no origin for a column of a compound, or of a virtual table, which may make its values
 * from those of another table.
 */
export const viewSources = ({ name, columns, opened, declarations }: PreparedView): ViewSources => {
  const stored = declarations.filter(({ rootpage }) => rootpage !== 0)
  const computed = declarations.filter(({ rootpage }) => rootpage === 0)
  const ordinary = new Set(stored.map((row) => foldName(String(row.name))))
  const sqlOf = new Map(computed.map((row) => [foldName(String(row.name)), String(row.sql)]))
  const virtual = new Set(computed.flatMap((row) => (row.type === 'table' ? foldName(String(row.name)) : [])))
  const reached = [...reachedFrom(name, sqlOf)]
  const isUnclear = reached.some((other) => isCompound(String(sqlOf.get(other))))
  const originOf = (origin: Origin | null): Origin | null => {
    if (isUnclear || origin === null || !ordinary.has(foldName(origin.table))) return null
    return { table: foldName(origin.table), column: foldName(origin.column) }
  }
  const ofVirtual = reached.flatMap((other) => (virtual.has(other) ? namesIn(String(sqlOf.get(other))) : []))
  const read = new Set([...opened.map(foldName), ...reached.slice(1), ...ofVirtual])
  return {
    origins: columns.map((column) => ({ name: foldName(column.name), origin: originOf(column.origin) })),
    reads: [...read]
  }
}

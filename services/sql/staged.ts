import type { Structure } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import { columnRef, identifier } from './identifiers.ts'
import { hasKey } from './unique-keys.ts'

/** The table of a staging file that has the records of an import. The rows of a source have this name, too. */
export const STAGED_TABLE = '_rowhouse_staged'
/** The column with the line where the record begins. */
export const LINE_COLUMN = '_rowhouse_line'
/** The column of a source by which its records are stored. */
export const POSITION_COLUMN = '_rowhouse_position'

/** Returns a column of a staged record. */
export const staged = (name: string) => columnRef(STAGED_TABLE, name)

/** A value that is read of each staged record. */
export interface StagedColumn {
  readonly name: string
  /** An expression that reads only the staging file. */
  readonly value: string
}

/** Returns the stored column of a staged record, without a change. */
export const stagedColumn = (name: string): StagedColumn => ({ name, value: staged(name) })

/** The column of the staging file that has the position: the rowid, or the line. */
export const positionName = ({ rowid }: Pick<Structure, 'rowid'>) => rowid ?? LINE_COLUMN

/** Returns a subquery for the staged records that match. `table`: the table of the staging file. */
export const selectStaged = (columns: readonly StagedColumn[], table: string, condition: string) => {
  const values = columns.map(({ name, value }) => `${value} AS ${identifier(name)}`)
  return `(SELECT ${values.join(', ')} FROM ${table} WHERE ${condition})`
}

/** Whether a stored and a staged record have the same values in the key. NULL equals nothing. */
export const sameKey = (table: string, key: UniqueKey) => hasKey(table, key, staged)

export const storedWith = (table: string, condition: string) =>
  `EXISTS (SELECT 1 FROM main.${identifier(table)} WHERE ${condition})`

/** Whether a stored record conflicts with a staged one. `except`: ignores records with the same values in this key. */
export const isTaken = (table: string, key: UniqueKey, except: UniqueKey | null) => {
  const other = except ? ` AND (${sameKey(table, except)}) IS NOT TRUE` : ''
  return storedWith(table, sameKey(table, key) + other)
}

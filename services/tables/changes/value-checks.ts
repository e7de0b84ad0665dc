import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { findMisfit, findNull } from '../../sql/misfits.ts'
import type { Statement } from '../../sql/statement.ts'
import { valuesDoNotFit } from '../failures.ts'
import type { FieldChange } from './field-changes.ts'

interface Search {
  /** Selects one record whose value does not fit. */
  readonly statement: Statement
  /** The property of the change that the value does not fit. */
  readonly path: string
  readonly problem: string
}

const searchesOf = (
  { name, structure: { key, rowid } }: RegisteredTable,
  { column, jsonType, isNotNull }: FieldChange,
  { dialect }: Database
) => {
  const table = { name, key, rowid }
  const searches: Search[] = []
  if (jsonType) {
    const statement = findMisfit(table, column.name, jsonType, dialect)
    searches.push({ statement, path: '/jsonType', problem: `which does not fit the type ${jsonType}` })
  }
  if (isNotNull) {
    const statement = findNull(table, column.name, dialect)
    searches.push({ statement, path: '/nullable', problem: 'so it cannot be required' })
  }
  return searches
}

/** Creates the check that the stored values fit the change of a field. */
export const createValueCheck =
  (db: Database) =>
  /** @throws VALUES_DO_NOT_FIT with an example */
  async (caller: Caller, table: RegisteredTable, change: FieldChange) => {
    const { name } = change.column
    for (const { statement, path, problem } of searchesOf(table, change, db)) {
      const [row] = await db.scan(statement, caller)
      if (!row) continue
      const key = table.structure.key.map((field, index) => `${field} = ${row[`k${index}`]}`).join(', ')
      throw valuesDoNotFit(name, path, `The record with ${key} has ${row.value} in '${name}', ${problem}.`)
    }
  }

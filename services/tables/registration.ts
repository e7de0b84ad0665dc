import type { Database } from '../engine/database.ts'
import { DomainError } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import type { Unit } from '../sql/statement.ts'
import { tableRegistered } from './failures.ts'
import type { TableRegistry } from './registry.ts'
import type { StoredTable } from './stored-tables.ts'

/** `index`: the position of the statement, from 0. */
const toTableError = (error: unknown, tableAt: (index: number) => StoredTable) =>
  error instanceof DomainError && error.code === 'UNIQUE_VIOLATION'
    ? tableRegistered(tableAt(Number(error.statement)).name)
    : error

/**
 * Returns the function that commits a unit whose last statements insert these tables into the registry, in their order.
 * The unique index of the registry decides between concurrent registrations of one name: TABLE_REGISTERED.
 */
export const createRegistration =
  (db: Database, registry: TableRegistry) =>
  async (tables: readonly StoredTable[], unit: Unit): Promise<RegisteredTable[]> => {
    const before = unit.length - tables.length
    const results = await db.write(unit).catch((error) => {
      throw toTableError(error, (index) => tables[index - before] as StoredTable)
    })
    return tables.map(({ structure }, index) =>
      registry.apply(results[before + index]?.rows[0] as Row, (known) => known ?? structure)
    )
  }

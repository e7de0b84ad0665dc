import type { Database } from '../../engine/database.ts'
import { DomainError } from '../../model/errors.ts'
import type { Row } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import type { Unit } from '../../sql/statement.ts'
import { tableRegistered } from '../failures.ts'
import type { UnnamedChoices } from './choices.ts'
import { guessLabelField } from './label-field.ts'
import type { NameReservations } from './name-reservations.ts'
import type { TableRegistry } from './registry.ts'
import type { StoredTable } from './stored-tables.ts'
import { combine } from './structure.ts'
import { insertTable, type NewRegistration } from './table-statements.ts'

/** A table to register, before it gets its name for clients. */
export interface UnnamedTable extends StoredTable, Omit<NewRegistration, 'name' | 'choices'> {
  readonly choices: UnnamedChoices
}

interface RegistrationOptions {
  /** Epoch milliseconds. */
  readonly now: number
  /** Statements before the registration. */
  readonly before?: Unit
  /** The rows of the audit. */
  readonly audit: Unit
}

/** `index`: the position of the statement, from 0. */
const toTableError = (error: unknown, tableAt: (index: number) => StoredTable) =>
  error instanceof DomainError && error.code === 'UNIQUE_VIOLATION'
    ? tableRegistered(tableAt(Number(error.statement)).name)
    : error

/**
 * Returns the function that registers tables in one unit. The unique index of the registry decides between concurrent
 * registrations of one name: TABLE_REGISTERED.
 */
export const createRegistration = (db: Database, registry: TableRegistry, { reserveFree }: NameReservations) => {
  const write = async (
    tables: readonly UnnamedTable[],
    clientNames: readonly string[],
    { now, before = [], audit }: RegistrationOptions
  ) => {
    const inserts = tables.map((table, index) => {
      const choices = { ...table.choices, clientName: String(clientNames[index]) }
      const { structure } = combine(table.structure, choices)
      const labelField = guessLabelField(structure, registry.hiddenSources({ ...table, choices }))
      return insertTable({ ...table, choices: { ...choices, labelField } }, now)
    })
    const results = await db.write([...before, ...inserts, ...audit]).catch((error) => {
      throw toTableError(error, (index) => tables[index - before.length] as StoredTable)
    })
    const registered = tables.map(({ structure }, index) =>
      registry.apply(results[before.length + index]?.rows[0] as Row, (known) => known ?? structure)
    )
    // A later one may hide fields of an earlier view.
    return registered.map(({ id }) => registry.get(id))
  }

  return (tables: readonly UnnamedTable[], options: RegistrationOptions): Promise<RegisteredTable[]> =>
    reserveFree(
      tables.map(({ name }) => name),
      (clientNames) => write(tables, clientNames, options)
    )
}

export type Register = ReturnType<typeof createRegistration>

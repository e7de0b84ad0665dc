import { foldName } from '../../model/names.ts'
import type { RegisteredTable, Registration } from '../../model/table.ts'
import { pathTaken } from '../failures.ts'

/** Whether a path shows the name as it is. Generators handle percent-encoding in different ways. */
const isPlain = (name: string) => /^[\w.~-]+$/.test(name)

/** Finds the table that a path names. */
type FindByPath = (name: string) => Registration | undefined

/**
 * Checks the name of a new table, or a new name. Clients send the client name of a table whose stored name needs
 * percent-encoding. A new table with that name would get their requests. An adopted table keeps its name, which wins.
 * `renamedId`: of the table that gets the name.
 * @throws TABLE_EXISTS
 */
export const assertPathFree = (findByPath: FindByPath, name: string, renamedId?: number) => {
  const found = findByPath(name)
  const isOtherTable = found && found.id !== renamedId && foldName(found.name) !== foldName(name)
  if (isOtherTable && !isPlain(found.name)) throw pathTaken(name)
}

/**
 * Creates the function that returns the name of a table for paths: the client name where the stored name needs
 * percent-encoding, unless a path finds another table by it.
 */
export const createPathNames =
  (findByPath: FindByPath) =>
  ({ id, name, choices: { clientName } }: RegisteredTable): string =>
    !isPlain(name) && findByPath(clientName)?.id === id ? clientName : name

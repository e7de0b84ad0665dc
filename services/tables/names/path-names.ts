import { foldName } from '../../model/names.ts'
import type { RegisteredTable, Registration } from '../../model/table.ts'
import { pathTaken } from '../failures.ts'

/** Whether a path shows the name as it is. Generators handle percent-encoding in different ways. */
const isPlain = (name: string) => /^[\w.~-]+$/.test(name)

/** Finds the table that a path names. */
type FindByPath = (name: string) => Registration | undefined

/**
 * Checks a new name of a table. Clients send the client name of another table in paths if its stored name needs
 * percent-encoding. Their requests would reach the table with the new name. `table`: the id of the renamed table.
 * @throws TABLE_EXISTS
 */
export const assertPathFree = (findByPath: FindByPath, name: string, table?: number) => {
  const found = findByPath(name)
  if (!found || found.id === table || foldName(found.name) === foldName(name)) return
  if (!isPlain(found.name)) throw pathTaken(name)
}

/**
 * Creates the function that returns the name of a table for paths: the client name where the stored name needs
 * percent-encoding, unless a path finds another table by it.
 */
export const createPathNames =
  (findByPath: FindByPath) =>
  ({ id, name, choices: { clientName } }: RegisteredTable): string =>
    !isPlain(name) && findByPath(clientName)?.id === id ? clientName : name

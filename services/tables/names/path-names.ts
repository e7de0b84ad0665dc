import type { RegisteredTable, Registration } from '../../model/table.ts'

/** Whether a path shows the name as it is. Generators handle percent-encoding in different ways. */
const isPlain = (name: string) => /^[\w.~-]+$/.test(name)

/**
 * Creates the function that returns the name of a table for paths: the client name where the stored name needs
 * percent-encoding, unless a path finds another table by it. `findByPath`: finds the table that a path names.
 */
export const createPathNames =
  (findByPath: (name: string) => Registration | undefined) =>
  ({ id, name, choices: { clientName } }: RegisteredTable): string =>
    !isPlain(name) && findByPath(clientName)?.id === id ? clientName : name

import { repeatedGrantMessages } from '../../model/repeated-grants.ts'
import type { Connection } from './connection.ts'

/** A file of an early version has no roles. */
const HAS_ROLES = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_rowhouse_roles'"

/** Returns a sentence for each table and action that two grants of a role in the file name. */
export const readRepeatedGrants = ({ value, rows }: Connection): readonly string[] => {
  if (value(HAS_ROLES) === undefined) return []
  return rows('SELECT name, grants FROM _rowhouse_roles ORDER BY id', []).flatMap(({ name, grants }) =>
    repeatedGrantMessages(String(grants)).map((sentence) => `Role '${name}': ${sentence}`)
  )
}

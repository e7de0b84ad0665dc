import type { Action, Permissions } from '../../schemas/token.ts'
import { foldName } from '../model/names.ts'

/** What a call can need. `write` is no need of its own: it grants every one of these but `read`. */
export type NeededAction = Exclude<Action, 'write'>

const grants: Record<Action, readonly NeededAction[]> = {
  read: ['read'],
  write: ['create', 'update', 'delete', 'schema'],
  create: ['create'],
  update: ['update'],
  delete: ['delete'],
  schema: ['schema']
}

export interface Scope {
  /** Whether anything at all may be done with the table. */
  reaches(table: string): boolean
  /** Whether there may be a table with which it may be done. */
  grants(action: NeededAction): boolean
  allows(action: NeededAction, table: string): boolean
}

/**
 * The permissions of a token, made ready to be asked on every request. Names fold as SQLite folds them: folding more
 * than ASCII would let a scope on one table reach another that merely resembles it, such as k and the Kelvin sign.
 */
export const createScope = ({ tables, actions }: Permissions): Scope => {
  const granted = new Set(actions.flatMap((action) => grants[action]))
  const names = new Set(tables.map(foldName))
  const isUnbounded = names.has('*')
  const includes = (table: string) => isUnbounded || names.has(table) || names.has(foldName(table))
  return {
    reaches: (table) => granted.size > 0 && includes(table),
    grants: (action) => granted.has(action),
    allows: (action, table) => granted.has(action) && includes(table)
  }
}

import type { Action, Permissions } from '../schemas/token.ts'

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

/**
 * Table names as SQLite compares them: ignoring the case of ASCII letters only. Folding more would let a scope on one
 * table reach another whose name merely resembles it, such as the Kelvin sign and k.
 */
export const foldCase = (name: string) => name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

export interface Scope {
  /** Whether the table is in scope, for whatever action. */
  includes(table: string): boolean
  allows(action: NeededAction, table: string): boolean
}

/** The permissions of a token, made ready to be asked on every request. */
export const createScope = ({ tables, actions }: Permissions): Scope => {
  const granted = new Set(actions.flatMap((action) => grants[action]))
  const names = new Set(tables.map(foldCase))
  const isUnbounded = names.has('*')
  const includes = (table: string) => isUnbounded || names.has(table) || names.has(foldCase(table))
  return { includes, allows: (action, table) => granted.has(action) && includes(table) }
}

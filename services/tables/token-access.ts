import { suggestName } from '../../schemas/similar-names.ts'
import { DomainError, invalid, tableChanged, tableNotFound } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Scope } from '../model/scope.ts'
import type { RegisteredTable, Registration } from '../model/table.ts'
import { assertTable } from './assert-table.ts'
import { tableUnusable } from './failures.ts'
import type { IsVisible } from './foreign-keys.ts'
import { haveSameRecords } from './registry/structure.ts'

const tableReadOnly = (table: string) =>
  new DomainError('TABLE_READ_ONLY', `The table '${table}' cannot be changed through tokens.`, {
    hint: 'An administrator can make it editable: PUT /admin/tables/:id.'
  })

/** Returns the tables that a token can use: published ones, in its scope. */
export const reachableTables = (tables: readonly Registration[], scope: Reach): readonly RegisteredTable[] =>
  tables.filter((table): table is RegisteredTable => table.isPublished && scope.reaches(table.name))

/** What the scope of a token permits. */
type Reach = Pick<Scope, 'reaches' | 'allows' | 'fieldsOf'>

/** Returns the function that finds out whether a token can read a field of a table. `find`: by name, ignoring case. */
export const readableFields =
  (find: (name: string) => Registration | undefined, scope: Reach): IsVisible =>
  (name, field) => {
    const table = find(name)
    if (!table?.isPublished || table.isOutdated || !scope.allows('read', table.name)) return false
    return scope.fieldsOf(table).columns.some((column) => foldName(column.name) === foldName(field))
  }

/** @throws VALIDATION_FAILED for an SQL view */
export const checkEditable = ({ name, structure }: Pick<RegisteredTable, 'name' | 'structure'>) => {
  if (!structure.isView) return
  const message = `'${name}' is a view, which can only be read. Leave 'isEditable' out, or send false.`
  throw invalid([{ path: '/isEditable', code: 'view', message }])
}

/** @throws TABLE_CHANGED if the table has other records or fields than at the start of the request */
export const assertSameRecords = (before: RegisteredTable, now: RegisteredTable) => {
  if (!haveSameRecords(before.structure, now.structure)) throw tableChanged(before.name)
}

interface TokenUse {
  readonly isWrite: boolean
  /** Returns the tables that the token can use. The hint for an unknown name shows a similar one. */
  readonly reachable: () => readonly RegisteredTable[]
}

const hintFor = (name: string, { reachable }: TokenUse) => {
  const similar = suggestName(
    name,
    reachable().map((table) => table.name)
  )
  return [similar ?? [], 'GET /data/_me lists the tables that this token can use.'].flat().join(' ')
}

/**
 * Returns the table that tokens may use under this name.
 * @throws TABLE_NOT_FOUND, also for a table that is not published; TABLE_UNUSABLE, TABLE_READ_ONLY
 */
export const openToTokens = (table: Registration | undefined, name: string, use: TokenUse): RegisteredTable => {
  if (table?.structure === null && table.wasPublished) throw tableUnusable(table.name)
  if (!table?.isPublished) throw tableNotFound(name, hintFor(name, use))
  if (use.isWrite) assertTable(table)
  if (use.isWrite && !table.isEditable) throw tableReadOnly(table.name)
  return table
}

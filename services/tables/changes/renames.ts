import type { NamingToken } from '../../../schemas/table.ts'
import type { Database, WriteResult } from '../../engine/database.ts'
import { invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Column, RegisteredTable } from '../../model/table.ts'
import { changeCaseOfName, renameTable } from '../../sql/alter.ts'
import type { Statement, Unit } from '../../sql/statement.ts'
import { assertTable } from '../assert-table.ts'
import { nameGranted, nameTaken, tableOutdated, tableRegistered } from '../failures.ts'
import { assertPathFree } from '../names/path-names.ts'
import { checkNewName } from '../names/reserved-names.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { renameRegistration, selectNamed } from '../registry/table-statements.ts'

/** The tokens whose permissions name tables. The token service provides it. */
export interface TokenNames {
  /** Returns the tokens that name the table, ignoring case. `*` names none. */
  naming(table: string): readonly NamingToken[]
  /** Returns the check that no token names the table. */
  expectUnnamed(table: string): Statement
  /** Returns the statement that replaces the name in the permissions of all tokens. It returns their rows. */
  rename(table: string, name: string): Statement
  /** Caches the rows that `rename` has returned. */
  apply(rows: readonly Row[]): readonly NamingToken[]
}

/** A change of roles. */
export interface RoleRewrite {
  /** Each statement expects a role as it was read. */
  readonly unit: Unit
  /** Caches the changed roles. To be called in the step that acknowledges the commit of the unit. */
  apply(): void
}

/** The roles whose grants name tables and fields. The role service provides it. */
export interface RoleNames {
  /** Returns the names of the roles whose grants name the table, ignoring case. `*` names none. */
  naming(table: string): readonly string[]
  /** Returns the check that no role names the table. */
  expectUnnamed(table: string): Statement
  renameTable(table: RegisteredTable, to: string): RoleRewrite
  /** @throws RIGHTS_CONFLICT if grants have the new name already */
  renameField(table: RegisteredTable, column: Column, to: string): RoleRewrite
  /** Returns the names of the roles whose grants name the field, which need not exist. */
  rolesUsing(table: RegisteredTable, field: string): readonly string[]
  /** Returns the names of the roles with a rule on another table that follows a foreign key to this one. */
  rolesFollowingTo(table: RegisteredTable): readonly string[]
}

/** What a request renames. */
export interface Rename {
  readonly name: string
  readonly updateTokens: boolean
}

interface RenamesOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly tokenNames: TokenNames
  readonly roleNames: RoleNames
}

/** Returns the rename in a request, or null. @throws VALIDATION_FAILED */
export const renameIn = (name: string | undefined, updateTokens: boolean | undefined): Rename | null => {
  if (name !== undefined) {
    checkNewName(name)
    return { name, updateTokens: updateTokens ?? false }
  }
  if (updateTokens === undefined) return null
  throw invalid([{ path: '/updateTokens', code: 'conflict', message: "'updateTokens' needs 'name', the new name." }])
}

/** Creates the functions for new names of tables. SQLite changes the name in foreign keys, indexes, triggers and views. */
export const createRenames = ({ db, registry, tokenNames, roleNames }: RenamesOptions) => {
  /** @throws TABLE_EXISTS, TABLE_REGISTERED */
  const checkFree = async ({ id }: RegisteredTable, name: string) => {
    const registered = registry.find(name)
    if (registered) throw tableRegistered(registered.name)
    const [existing] = await db.read(selectNamed(name))
    if (existing) throw nameTaken(String(existing.name), String(existing.type))
    assertPathFree(registry.findByPath, name, id)
  }

  /** Keys would get rights to the renamed table that were set for another one. @throws RIGHTS_CONFLICT */
  const checkUnnamed = (name: string): Unit => {
    const [roles, tokens] = [roleNames.naming(name), tokenNames.naming(name)]
    if (roles.length + tokens.length > 0) throw nameGranted(name, roles, tokens)
    return [roleNames.expectUnnamed(name), tokenNames.expectUnnamed(name)]
  }

  /** @throws TABLE_EXISTS, TABLE_REGISTERED, RIGHTS_CONFLICT */
  const renameStored = async (table: RegisteredTable, to: string): Promise<Unit> => {
    const from = table.name
    if (from === to) return []
    if (foldName(from) === foldName(to)) return changeCaseOfName(from, to)
    await checkFree(table, to)
    return [...checkUnnamed(to), renameTable(from, to)]
  }

  /**
   * Returns the statements of a rename, and the change of the roles that is a part of them. The last statement renames in
   * the tokens, if that is requested.
   * @throws TABLE_READ_ONLY, STRUCTURE_CHANGED, TABLE_EXISTS, TABLE_REGISTERED, RIGHTS_CONFLICT
   */
  const unitOf = async (table: RegisteredTable, { name, updateTokens }: Rename) => {
    assertTable(table)
    if (table.isOutdated) throw tableOutdated(table.name)
    const stored = await renameStored(table, name)
    const roles = roleNames.renameTable(table, name)
    const unit: Unit = [
      ...stored,
      ...roles.unit,
      renameRegistration(table.id, name),
      ...(updateTokens ? [tokenNames.rename(table.name, name)] : [])
    ]
    return { unit, roles }
  }

  /**
   * To be called in the step that acknowledges the commit of the statements and one more. Returns the tokens that named
   * the table by its old name.
   */
  const applied = (results: readonly WriteResult[], { name }: RegisteredTable, { updateTokens }: Rename) =>
    updateTokens ? tokenNames.apply(results.at(-2)?.rows as readonly Row[]) : tokenNames.naming(name)

  /** Like `applied`, for a cluster that has returned no rows: memory was read again. */
  const reloaded = (before: RegisteredTable, { name, updateTokens }: Rename) =>
    tokenNames.naming(updateTokens ? name : before.name)

  return { unitOf, applied, reloaded }
}

export type Renames = ReturnType<typeof createRenames>

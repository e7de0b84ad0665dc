import { isDeepStrictEqual } from 'node:util'
import type { Grant } from '../../schemas/role.ts'
import type { TableAction } from '../model/actions.ts'
import { excerpt } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Column, RegisteredTable, Registration } from '../model/table.ts'
import type { RoleNames } from '../tables/changes/renames.ts'
import { assertFieldUngranted } from '../tables/failures.ts'
import { withoutClaimValues } from './any-claims.ts'
import { ClosedGrant, compileGrant } from './compile-grant.ts'
import { mapFields, type NamedField, namedFields } from './grant-fields.ts'
import { EVERY_TABLE } from './grants.ts'
import { expectNoGrant } from './role-statements.ts'
import type { LiveRole, RoleService } from './roles.ts'

interface RoleNamesOptions {
  readonly roles: Pick<RoleService, 'list' | 'rewrite'>
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
  /** Returns the registered tables. */
  readonly allTables: () => readonly Registration[]
}

const isSame = (one: string, other: string) => foldName(one) === foldName(other)

const hasField = ({ structure }: RegisteredTable, field: string) =>
  structure.columns.some(({ name }) => isSame(name, field))

/** Creates the functions for the names of tables and fields in grants. */
export const createRoleNames = ({ roles, findTable, allTables }: RoleNamesOptions) => {
  const isReadable = (table: Registration | undefined): table is RegisteredTable => Boolean(table?.structure)

  /** Returns the registered tables to which a grant of a role applies, for at least one of its actions. */
  const tablesOf = (grant: Grant, { index }: LiveRole): readonly RegisteredTable[] => {
    const named = grant.tables.includes(EVERY_TABLE) ? allTables() : grant.tables.map(findTable)
    return named
      .filter(isReadable)
      .filter(({ name, structure }) =>
        grant.actions.some((action) => index.find(action as TableAction, name, structure.isView) === grant)
      )
  }

  const naming: RoleNames['naming'] = (table) =>
    roles
      .list()
      .filter(({ grants }) => grants.some(({ tables }) => tables.some((name) => isSame(name, table))))
      .map(({ name }) => name)

  const renameTable: RoleNames['renameTable'] = (table, to) =>
    roles.rewrite((grant) => [{ ...grant, tables: grant.tables.map((name) => (isSame(name, table.name) ? to : name)) }])

  /** Returns the grant for each of its tables. Tables for which the new names differ get grants of their own. */
  const withNewName = (grant: Grant, table: RegisteredTable, { name: from }: Column, to: string): readonly Grant[] => {
    const nameOf = (owner: RegisteredTable, field: string) => (owner === table && isSame(field, from) ? to : field)
    const groups: Grant[] = []
    for (const name of grant.tables) {
      const registered = name === EVERY_TABLE ? undefined : findTable(name)
      const renamed = isReadable(registered) ? mapFields(grant, registered, { findTable, nameOf }) : grant
      const position = groups.findIndex((other) =>
        isDeepStrictEqual({ ...other, tables: [] }, { ...renamed, tables: [] })
      )
      const group = groups[position]
      if (group) groups[position] = { ...group, tables: [...group.tables, name] }
      else groups.push({ ...renamed, tables: [name] })
    }
    return groups
  }

  /** Returns the names of the roles of which a grant, as it applies to one of its tables, names such a field. */
  const rolesNaming = (isNamed: (named: NamedField, own: RegisteredTable) => boolean) => {
    const isUsing = (role: LiveRole) =>
      role.grants.some((grant) =>
        tablesOf(grant, role).some((own) => namedFields(grant, own, findTable).some((named) => isNamed(named, own)))
      )
    return roles
      .list()
      .filter(isUsing)
      .map(({ name }) => name)
  }

  const rolesUsing: RoleNames['rolesUsing'] = (table, field) =>
    rolesNaming((named) => named.table === table && isSame(named.field, field))

  const renameField: RoleNames['renameField'] = (table, column, to) => {
    if (!isSame(column.name, to)) assertFieldUngranted(table, to, rolesUsing(table, to))
    return roles.rewrite((grant) => withNewName(grant, table, column, to))
  }

  const rolesFollowingTo: RoleNames['rolesFollowingTo'] = (table) =>
    rolesNaming((named, own) => named.table === table && own !== table)

  /** Returns why a grant opens nothing in a table, whatever the claims are. */
  const misfitsOf = (grant: Grant, table: RegisteredTable): readonly string[] => {
    const unknown = namedFields(grant, table, findTable).filter((named) => !hasField(named.table, named.field))
    if (unknown.length > 0)
      return unknown.map((named) => `The table '${named.table.name}' has no field '${excerpt(named.field)}'.`)
    const compiled = compileGrant(withoutClaimValues(grant), table, { claims: {}, findTable })
    return compiled instanceof ClosedGrant ? [`In the table '${table.name}': ${compiled.message}`] : []
  }

  /** Returns a sentence for each table that a grant names and that is not registered, or in which a grant opens nothing. */
  const warningsOf = ({ grants, problems }: LiveRole): string[] => {
    const warnings = grants.flatMap((grant) => {
      const named = grant.tables.filter((name) => name !== EVERY_TABLE)
      const unknown = named
        .filter((name) => !findTable(name))
        .map((name) => `There is no table '${excerpt(name)}' now.`)
      const misfits = named
        .map(findTable)
        .filter(isReadable)
        .flatMap((table) => misfitsOf(grant, table))
      return [...unknown, ...misfits.map((misfit) => `${misfit} The grant opens nothing there.`)]
    })
    return [...new Set([...problems, ...warnings])]
  }

  return { naming, expectUnnamed: expectNoGrant, renameTable, renameField, rolesUsing, rolesFollowingTo, warningsOf }
}

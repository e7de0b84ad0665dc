import { isDeepStrictEqual } from 'node:util'
import type { Grant } from '../../schemas/role.ts'
import { excerpt } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Column, RegisteredTable, Registration } from '../model/table.ts'
import type { RoleNames } from '../tables/changes/renames.ts'
import { mapFields, namedFields } from './grant-fields.ts'
import { EVERY_TABLE, hasClaim, withoutClaims } from './grants.ts'
import { ClosedGrant, compileLimits } from './limits.ts'
import type { RoleService } from './roles.ts'

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

  /** Returns the registered tables to which a grant applies. */
  const tablesOf = ({ tables }: Grant): readonly RegisteredTable[] =>
    (tables.includes(EVERY_TABLE) ? allTables() : tables.map(findTable)).filter(isReadable)

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

  const renameField: RoleNames['renameField'] = (table, column, to) =>
    roles.rewrite((grant) => withNewName(grant, table, column, to))

  const needs = (grant: Grant, table: RegisteredTable, column: Column | null) =>
    tablesOf(grant).some((own) =>
      namedFields(grant, own, findTable).some(
        (named) => named.table === table && (column ? isSame(named.field, column.name) : own !== table)
      )
    )

  const needing: RoleNames['needing'] = (table, column) =>
    roles
      .list()
      .filter(({ grants }) => grants.some((grant) => needs(grant, table, column)))
      .map(({ name }) => name)

  /** Returns why a grant opens nothing in a table, whatever the claims are. */
  const misfitsOf = (grant: Grant, table: RegisteredTable): readonly string[] => {
    const unknown = namedFields(grant, table, findTable).filter((named) => !hasField(named.table, named.field))
    if (unknown.length > 0)
      return unknown.map((named) => `The table '${named.table.name}' has no field '${excerpt(named.field)}'.`)
    const { rows, presets } = grant
    const known = {
      ...grant,
      ...(rows && { rows: withoutClaims(rows) as typeof rows }),
      ...(presets && { presets: Object.fromEntries(Object.entries(presets).filter(([, value]) => !hasClaim(value))) })
    }
    try {
      compileLimits(known, table, { claims: {}, findTable })
      return []
    } catch (error) {
      if (error instanceof ClosedGrant) return [`In the table '${table.name}': ${error.message}`]
      throw error
    }
  }

  /** Returns a sentence for each table that a grant names and that is not registered, or in which it opens nothing. */
  const warningsOf = (grants: readonly Grant[]): string[] => {
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
    return [...new Set(warnings)]
  }

  return { renameTable, renameField, needing, warningsOf }
}

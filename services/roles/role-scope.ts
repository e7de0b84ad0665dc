import { tableActions } from '../../schemas/token-action.ts'
import type { TableAction } from '../model/actions.ts'
import type { KeyRole } from '../model/caller.ts'
import type { Scope } from '../model/scope.ts'
import type { RegisteredTable, Registration } from '../model/table.ts'
import type { VisibleFields } from '../model/visible-fields.ts'
import { type FindOpenGrant, openGrants } from '../records/access/opened.ts'
import type { LiveRole } from './roles.ts'

interface RoleScopeOptions {
  readonly findRole: (id: number) => LiveRole | undefined
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
  readonly findOpenGrant: FindOpenGrant
}

/** Creates the function that returns what a role opens for a key. */
export const createScopeOf = ({ findRole, findTable, findOpenGrant }: RoleScopeOptions) => {
  const allows = (key: KeyRole, action: TableAction, name: string): boolean => {
    const table = findTable(name)
    if (table?.structure && table.isPublished && !table.isOutdated) return findOpenGrant(key, action, table) !== null
    // A table that a token cannot know is as one that does not exist, which has no fields to check.
    return findRole(key.id)?.index.find(action, name, false) !== undefined
  }

  const fieldsOf = (key: KeyRole, table: RegisteredTable): VisibleFields => {
    const reading = findOpenGrant(key, 'read', table)
    const open = (action: TableAction) => {
      const grant = findOpenGrant(key, action, table)
      return grant && openGrants(table, [grant], reading)
    }
    const [created, updated] = [open('create'), open('update')]
    const shown = open('read') ?? created ?? updated ?? open('schema') ?? open('delete')
    return {
      columns: shown?.visible ?? [],
      creatable: created?.writable ?? [],
      updatable: updated?.writable ?? [],
      presets: created?.presets.map(([column]) => column) ?? [],
      hasRule: shown?.rowRule != null
    }
  }

  return (key: KeyRole): Scope => ({
    reaches: (table) => tableActions.some((action) => allows(key, action, table)),
    grants: (action) => findRole(key.id)?.index.grants(action) ?? false,
    allows: (action, table) => allows(key, action, table),
    fieldsOf: (table) => fieldsOf(key, table)
  })
}

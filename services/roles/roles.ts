import { isDeepStrictEqual } from 'node:util'
import type { Grant, NewRole, RoleChanges } from '../../schemas/role.ts'
import { auditRow, summaryOf } from '../audit/audit-row.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { Caller, KeyRole } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, excerpt, hasCode } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import { findRepeatedGrants, repeatedGrantMessage } from '../model/repeated-grants.ts'
import type { Row } from '../model/sql-value.ts'
import type { Unit } from '../sql/statement.ts'
import type { RoleRewrite } from '../tables/changes/renames.ts'
import { checkGrants, readStoredGrants } from './grant-checks.ts'
import { type GrantIndex, indexGrants } from './grants.ts'
import { deleteRole, insertRole, listRoles, rewriteGrants, updateRole } from './role-statements.ts'

/** A role in memory. A change replaces the object. */
export interface LiveRole {
  readonly id: number
  readonly name: string
  readonly grants: readonly Grant[]
  readonly index: GrantIndex
  /** Why stored grants open nothing, as sentences for administrators. */
  readonly problems: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** `role`: its id or its name. */
export const roleNotFound = (role: number | string) =>
  new DomainError(
    'ROLE_NOT_FOUND',
    typeof role === 'number' ? `There is no role with id ${role}.` : `There is no role '${excerpt(role)}'.`
  )

const roleExists = (name: string) =>
  new DomainError('ROLE_EXISTS', `There is a role '${excerpt(name)}' already.`, { hint: 'Send another name.' })

const roleInUse = ({ name }: LiveRole) =>
  new DomainError('ROLE_IN_USE', `Tokens have the role '${excerpt(name)}'.`, {
    hint: 'Revoke these tokens, or give them another role.'
  })

/** A new name can make two grants name one table and action, if another program has stored grants. @throws RIGHTS_CONFLICT */
const checkRewritten = ({ name }: LiveRole, grants: readonly Grant[]) => {
  const [repeated] = findRepeatedGrants(grants)
  if (!repeated) return
  const message = `The role '${excerpt(name)}' prevents the new name. ${repeatedGrantMessage(repeated)}`
  throw new DomainError('RIGHTS_CONFLICT', message, {
    hint: 'Join these grants, or split their tables: PUT /admin/roles/:id.'
  })
}

/** The boundary function that gives a row its type. The migrations define its columns. */
const toRole = (row: Row): LiveRole => {
  const { grants, problems } = readStoredGrants(row.grants as string)
  return {
    id: row.id as number,
    name: row.name as string,
    grants,
    index: indexGrants(grants),
    problems,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number
  }
}

interface RoleServiceOptions {
  readonly db: Database
  readonly clock: Clock
  /** Called when a load finds problems of a role that the load before did not find. */
  readonly onProblems: (role: LiveRole) => void
}

/** Creates the service of roles. All of them are cached, as the tokens are. */
export const createRoleService = ({ db, clock, onProblems }: RoleServiceOptions) => {
  let byId = new Map<number, LiveRole>()

  const cache = (row: Row) => {
    const role = toRole(row)
    byId.set(role.id, role)
    return role
  }

  const load = async () => {
    const before = byId
    byId = new Map((await db.read(listRoles)).map(toRole).map((role) => [role.id, role]))
    for (const role of byId.values())
      if (role.problems.length > 0 && !isDeepStrictEqual(role.problems, before.get(role.id)?.problems)) onProblems(role)
  }

  const find = (id: number) => byId.get(id)

  /** Returns the name of a role; null if another program has deleted it. */
  const nameOf = (id: number) => byId.get(id)?.name ?? null

  /** Returns all that decides what a token with this role opens. */
  const rightsOf = ({ id, claims }: KeyRole) => [id, claims, byId.get(id)?.grants]

  /** Ignores case: for a name that an administrator sends. */
  const findByName = (name: string) => [...byId.values()].find((role) => foldName(role.name) === foldName(name))

  /** An identity provider may have two roles whose names differ only in their case. */
  const findByExactName = (name: string) => [...byId.values()].find((role) => role.name === name)

  /** @throws ROLE_NOT_FOUND */
  const read = (id: number): LiveRole => {
    const role = byId.get(id)
    if (!role) throw roleNotFound(id)
    return role
  }

  const list = (): readonly LiveRole[] => [...byId.values()]

  /** @throws ROLE_EXISTS, ROLE_NOT_FOUND */
  const commit = async (unit: Unit, { id, name }: { readonly id?: number; readonly name: string }) => {
    try {
      return await db.write(unit)
    } catch (error) {
      if (hasCode(error, 'UNIQUE_VIOLATION')) throw roleExists(name)
      if (!(error instanceof UnexpectedChanges) || id === undefined) throw error
      // Another program has deleted it.
      byId.delete(id)
      throw roleNotFound(id)
    }
  }

  /** @throws VALIDATION_FAILED, ROLE_EXISTS */
  const create = async (caller: Caller, role: NewRole): Promise<LiveRole> => {
    checkGrants(role.grants)
    const now = clock()
    const entry = auditRow(caller, now, { action: 'role.create', target: role.name })
    const [inserted] = await commit([insertRole(role, now), entry], role)
    return cache(inserted?.rows[0] as Row)
  }

  /** With effect from the next request. @throws VALIDATION_FAILED, ROLE_NOT_FOUND, ROLE_EXISTS */
  const change = async (caller: Caller, id: number, changes: RoleChanges): Promise<LiveRole> => {
    const { name } = read(id)
    if (changes.grants) checkGrants(changes.grants)
    const now = clock()
    const entry = auditRow(caller, now, {
      action: 'role.change',
      target: name,
      targetId: id,
      summary: summaryOf(changes)
    })
    const [updated] = await commit([updateRole(id, changes, now), entry], { id, name: changes.name ?? name })
    return cache(updated?.rows[0] as Row)
  }

  /** Returns the change of all roles whose grants `toGrants` replaces by others. @throws RIGHTS_CONFLICT */
  const rewrite = (toGrants: (grant: Grant) => readonly Grant[]): RoleRewrite => {
    const now = clock()
    const changed = list().flatMap((role) => {
      const grants = role.grants.flatMap(toGrants)
      if (isDeepStrictEqual(grants, role.grants)) return []
      checkRewritten(role, grants)
      return [{ ...role, grants, index: indexGrants(grants) }]
    })
    return {
      unit: changed.map(({ id, grants, updatedAt }) => rewriteGrants(id, grants, { now, updatedAt })),
      apply: () => {
        for (const role of changed) byId.set(role.id, { ...role, updatedAt: Math.max(now, role.updatedAt + 1) })
      }
    }
  }

  /** @throws ROLE_NOT_FOUND, ROLE_IN_USE */
  const remove = async (caller: Caller, id: number) => {
    const role = read(id)
    const entry = auditRow(caller, clock(), { action: 'role.delete', target: role.name, targetId: id })
    try {
      await commit([deleteRole(id), entry], role)
    } catch (error) {
      if (hasCode(error, 'FOREIGN_KEY_VIOLATION')) throw roleInUse(role)
      throw error
    }
    byId.delete(id)
  }

  return { load, list, read, find, nameOf, rightsOf, findByName, findByExactName, create, change, rewrite, remove }
}

export type RoleService = ReturnType<typeof createRoleService>

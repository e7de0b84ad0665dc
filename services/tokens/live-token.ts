import { type IntegerFormat, integerFormats, type Permissions, type Token } from '../../schemas/token.ts'
import type { KeyRole } from '../model/caller.ts'
import type { Scope } from '../model/scope.ts'
import type { Row } from '../model/sql-value.ts'
import type { PreviousSecret } from './credential-index.ts'
import type { Used } from './last-uses.ts'
import { createStoredAccess } from './stored-access.ts'
import { createStoredLimits, type TokenLimits } from './stored-limits.ts'

/** A token in memory. A change replaces the object: after an `await`, call `current` for the latest one. */
export interface LiveToken {
  readonly id: number
  readonly name: string
  readonly digest: string
  readonly tokenPrefix: string
  readonly permissions: Permissions
  /** null: the permissions say what the token opens. */
  readonly role: KeyRole | null
  readonly scope: Scope
  readonly isActive: boolean
  readonly expiresAt: number | null
  readonly integers: IntegerFormat
  readonly limits: TokenLimits
  readonly previousSecret: PreviousSecret | null
  /** Newer than the stored value until the next `flush`. */
  readonly lastUsedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A token whose scope may not have been created yet. */
export type TokenWithoutScope = Omit<LiveToken, 'scope'>

export interface TokenEntry extends Omit<TokenWithoutScope, 'lastUsedAt'>, Used {
  /** null: the scope of the role is created at the first use. Many tokens are never used, and a scope needs 400 bytes. */
  scope: Scope | null
}

/** Returns a shared string: each row has its own copy of the text, which needs memory. */
const toFormat = (text: unknown): IntegerFormat => integerFormats.find((format) => format === text) as IntegerFormat

const previousSecretOf = ({ previous_digest: digest, previous_until: validUntil }: Row): PreviousSecret | null =>
  digest === null || validUntil === null ? null : { digest: digest as string, validUntil: validUntil as number }

/** Creates the boundary function that gives a row its type. The migrations define its columns. */
export const createEntryReader = () => {
  const { permissionsOf, roleOf } = createStoredAccess()
  const limitsOf = createStoredLimits()
  return (row: Row): TokenEntry => {
    const { permissions, scope, isValid } = permissionsOf(row)
    const role = roleOf(row)
    const limits = limitsOf(row)
    return {
      id: row.id as number,
      name: row.name as string,
      digest: row.digest as string,
      tokenPrefix: row.token_prefix as string,
      permissions,
      scope: role ? null : scope,
      role,
      isActive: row.is_active === 1 && isValid && limits.isValid,
      expiresAt: row.expires_at as number | null,
      integers: toFormat(row.integers),
      limits,
      previousSecret: previousSecretOf(row),
      lastUsedAt: row.last_used_at as number | null,
      savedUse: row.last_used_at as number | null,
      createdAt: row.created_at as number,
      updatedAt: row.updated_at as number
    }
  }
}

/** Returns the end of the previous secret; null if there is none, or if it has ended. */
const previousValidUntil = ({ previousSecret }: TokenWithoutScope, now: number) =>
  previousSecret && now < previousSecret.validUntil ? previousSecret.validUntil : null

export const toToken = (token: TokenWithoutScope, roleName: string | null, now: number): Token => ({
  id: token.id,
  name: token.name,
  token_prefix: token.tokenPrefix,
  permissions: token.permissions,
  role: roleName,
  claims: token.role?.claims ?? {},
  integers: token.integers,
  ...(token.limits.rateLimit && { rate_limit: token.limits.rateLimit }),
  networks: [...token.limits.networks],
  previous_valid_until: previousValidUntil(token, now),
  is_active: token.isActive,
  expires_at: token.expiresAt,
  last_used_at: token.lastUsedAt,
  created_at: token.createdAt,
  updated_at: token.updatedAt
})

/** Whether the token is accepted at this time, in epoch milliseconds. */
export const isLive = ({ isActive, expiresAt }: TokenWithoutScope, now: number) =>
  isActive && (expiresAt === null || now < expiresAt)

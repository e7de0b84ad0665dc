import { toLocal } from '../ui/local-time.ts'
import { type SingleAction, singleActions } from './permissions.ts'
import type { Permissions, Token } from './queries.ts'

/** What the form of a token edits. */
export interface TokenDraft {
  readonly name: string
  /** Local time as `YYYY-MM-DDTHH:mm`. Empty: never. */
  readonly expires: string
  readonly integers: Token['integers']
  readonly tables: readonly string[]
  readonly actions: readonly SingleAction[]
}

const MS_OF_DAY = 86_400_000

/** Returns the time in so many days, for the input of a local time. null: never. */
export const inDays = (days: number | null) => (days === null ? '' : toLocal(Date.now() + days * MS_OF_DAY))

export const emptyDraft = (tables: readonly string[]): TokenDraft => ({
  name: '',
  expires: '',
  integers: 'auto',
  tables,
  actions: ['read']
})

export const toDraft = ({ name, expires_at, integers, permissions }: Token): TokenDraft => ({
  name,
  expires: expires_at === null ? '' : toLocal(expires_at),
  integers,
  tables: permissions.tables,
  actions: singleActions(permissions)
})

const permissionsOf = ({ tables, actions }: TokenDraft): Permissions => ({
  tables: [...tables],
  actions: [...actions]
})

const expiryOf = ({ expires }: TokenDraft) => (expires === '' ? null : new Date(expires).getTime())

export const toNewToken = (draft: TokenDraft) => ({
  name: draft.name,
  integers: draft.integers,
  permissions: permissionsOf(draft),
  expiresAt: expiryOf(draft)
})

const samePermissions = (one: TokenDraft, other: TokenDraft) =>
  JSON.stringify(permissionsOf(one)) === JSON.stringify(permissionsOf(other))

/** Returns only what was edited: another administrator may have changed the rest since, such as a permission. */
export const toChanges = (draft: TokenDraft, before: TokenDraft) => ({
  ...(draft.name !== before.name && { name: draft.name }),
  ...(draft.integers !== before.integers && { integers: draft.integers }),
  ...(!samePermissions(draft, before) && { permissions: permissionsOf(draft) }),
  ...(draft.expires !== before.expires && { expiresAt: expiryOf(draft) })
})

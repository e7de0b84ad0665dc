import { texts } from '../texts/tokens.ts'
import type { Permissions, Token } from './queries.ts'

export const ACTIONS = ['read', 'create', 'update', 'delete', 'schema'] as const
export type SingleAction = (typeof ACTIONS)[number]

const ALL = '*'
export const ALL_TABLES: readonly string[] = [ALL]

/** Returns the actions in the order of `ACTIONS`: `write` stands for several. */
export const singleActions = ({ actions }: Pick<Permissions, 'actions'>): readonly SingleAction[] =>
  ACTIONS.filter((action) => actions.includes(action) || (action !== 'read' && actions.includes('write')))

export const isForAll = (tables: readonly string[]) => tables.includes(ALL)

/** Names of tables are compared ignoring the case. */
export const isSameName = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()

const tablesOf = ({ tables }: Permissions) => (isForAll(tables) ? 'all' : tables)

const scopeOf = (permissions: Permissions) => texts.scope(tablesOf(permissions), singleActions(permissions))

/** What permissions allow, in whole sentences. */
export const sentenceOf = (permissions: Permissions) =>
  texts.sentence(tablesOf(permissions), singleActions(permissions))

/** What a token may do, in a few words. */
export const accessOf = ({ permissions, role }: Pick<Token, 'permissions' | 'role'>) =>
  role === null ? scopeOf(permissions) : texts.hasRole(role)

/** What a token may do, in whole sentences. */
export const accessSentenceOf = ({ permissions, role, claims }: Pick<Token, 'permissions' | 'role' | 'claims'>) =>
  role === null ? sentenceOf(permissions) : texts.roleSentence(role, claims)

import type { TokensQuery } from '../../schemas/token-list.ts'
import type { KeyRole } from '../model/caller.ts'

/** What a search compares. */
interface Named {
  readonly id: number
  readonly name: string
  readonly tokenPrefix: string
  readonly role: KeyRole | null
}

/** Returns whether a token matches a search: a part of its name, of its prefix or of the name of its role, in any case. */
const createSearch = (search: string, roleNameOf: (token: Named) => string | null) => {
  const searched = search.toLowerCase()
  const includes = (text: string) => text.toLowerCase().includes(searched)
  /** One role has many tokens. */
  const matchingRoles = new Map<number, boolean>()

  const isInRole = (token: Named) => {
    if (!token.role) return false
    const known = matchingRoles.get(token.role.id)
    const matches = known ?? includes(roleNameOf(token) ?? '')
    if (known === undefined) matchingRoles.set(token.role.id, matches)
    return matches
  }

  return (token: Named) => includes(token.name) || includes(token.tokenPrefix) || isInRole(token)
}

/** Returns the tokens of a page. `tokens`: in the order of their ids. `limit`: without one, all that follow. */
export const pageOf = <T extends Named>(
  tokens: Iterable<T>,
  { search, after = 0, limit = Number.POSITIVE_INFINITY }: TokensQuery,
  roleNameOf: (token: Named) => string | null
): T[] => {
  const matches = search === undefined ? () => true : createSearch(search, roleNameOf)
  const found: T[] = []
  for (const token of tokens) {
    if (found.length === limit) return found
    if (token.id > after && matches(token)) found.push(token)
  }
  return found
}

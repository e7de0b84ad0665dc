import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'

export type Token = components['schemas']['Token']
export type IssuedToken = components['schemas']['IssuedToken']
export type RotatedToken = components['schemas']['RotatedToken']
export type Claims = Token['claims']
export type Permissions = components['schemas']['TokenPermissions']
type NewToken = components['schemas']['TokenCreate']
type TokenChanges = components['schemas']['TokenUpdate']

export type TokenUse = components['schemas']['TokenUse']

/** Maximum number of tokens of a response. */
export const MAX_TOKENS = 1000
const PAGE_SIZE = 100

const readTokens = (query: { readonly search?: string; readonly after?: number; readonly limit: number }) =>
  dataOf(api.GET('/admin/tokens', { params: { query } }))

/** The first tokens. */
export const firstTokensQuery = queryOptions({
  queryKey: ['tokens', 'first'],
  queryFn: () => readTokens({ limit: MAX_TOKENS })
})

/** The tokens of a search in pages. An empty text finds all. */
export const tokenPagesQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ['tokens', 'pages', search],
    queryFn: ({ pageParam }) =>
      readTokens({
        limit: PAGE_SIZE,
        ...(search !== '' && { search }),
        ...(pageParam !== null && { after: pageParam })
      }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.length === PAGE_SIZE ? (page.at(-1)?.id ?? null) : null),
    placeholderData: keepPreviousData
  })

/** Reads all tokens, page by page. */
export const readAllTokens = async () => {
  const tokens: Token[] = []
  let page: readonly Token[]
  do {
    const last = tokens.at(-1)
    page = await readTokens({ limit: MAX_TOKENS, ...(last && { after: last.id }) })
    tokens.push(...page)
  } while (page.length === MAX_TOKENS)
  return tokens
}

export const tokenQuery = (id: number) =>
  queryOptions({
    queryKey: ['tokens', id],
    queryFn: () => dataOf(api.GET('/admin/tokens/{id}', { params: { path: { id } } }))
  })

/** The days with use, the latest first. */
export const tokenUsesQuery = (id: number) =>
  queryOptions({
    queryKey: ['tokens', id, 'uses'],
    queryFn: () => dataOf(api.GET('/admin/tokens/{id}/uses', { params: { path: { id } } }))
  })

/** Roles show how many tokens they have. */
const refresh = () => Promise.all(['tokens', 'roles'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })))

/** Returns the token with its secret, which no other call returns. */
export const issueToken = async (body: NewToken) => {
  const issued = await dataOf(api.POST('/admin/tokens', { body }))
  await refresh()
  return issued
}

/** Returns warnings about the permissions. */
export const changeToken = async (id: number, body: TokenChanges) => {
  const { warnings = [] } = await dataOf(api.PUT('/admin/tokens/{id}', { params: { path: { id } }, body }))
  await refresh()
  return warnings
}

/** Returns the new secret, which no other call returns. */
export const rotateToken = async (id: number, overlapSeconds: number) => {
  const body = { overlapSeconds }
  const rotated = await dataOf(api.POST('/admin/tokens/{id}/rotate', { params: { path: { id } }, body }))
  await refresh()
  return rotated
}

export const revokeToken = async (id: number) => {
  await dataOf(api.DELETE('/admin/tokens/{id}', { params: { path: { id } } }))
  await refresh()
}

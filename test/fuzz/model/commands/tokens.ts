import fc from 'fast-check'
import { type Action, actions } from '../../../../schemas/token-action.ts'
import { changeToken, revokeToken, rotateToken, toListedToken, validPrevious } from '../accounts.ts'
import { bearer, command, pick } from '../harness.ts'
import { authenticateToken, type Model, mayUse, type Token } from '../model.ts'
import { changeCase, selector, sometimes, tableName, text } from './arbitraries.ts'

const MISSING = 999_999

const permissions = fc.record(
  {
    tables: fc.array(
      fc.oneof(
        fc.tuple(tableName, selector).map(([name, n]) => changeCase(name, n)),
        fc.constant('*')
      ),
      { maxLength: 3 }
    ),
    actions: fc.subarray<Action>([...actions])
  },
  { noNullPrototype: true }
)

/** Milliseconds from now, or an absolute time. */
const expiry = fc.oneof(
  fc.constantFrom(-1000, 0, 1, 1000, 60_000, 3_600_000).map((after) => ({ after })),
  fc.constantFrom(null, 0, 1e9, 1.8e9, 1e11, 1e11 + 1).map((at) => ({ at }))
)
type Expiry = { readonly after: number } | { readonly at: number | null }

const timeOf = (now: number, expiry: Expiry) => ('at' in expiry ? expiry.at : now + expiry.after)

const tokenName = text.map((name) => `t${name}`)

const identityOf = (model: Model, token: Token) => {
  const { name, permissions, expiresAt } = token
  const tables = model.registered.filter((table) => table.isPublished && mayUse(token, table.name))
  return {
    name,
    permissions,
    role: null,
    claims: {},
    integers: 'auto',
    expires_at: expiresAt,
    tables: tables.map((table) => table.name),
    closed: []
  }
}

const issue = command(
  3,
  fc.record({ by: selector, name: tokenName, permissions, expiry: sometimes(expiry, 3) }),
  ({ model, issue }, { by, name, permissions, expiry }) =>
    issue(by, { name, permissions, ...(expiry && { expiresAt: timeOf(model.now, expiry) }) })
)

const change = command(
  3,
  fc.record({
    by: selector,
    tokenAt: selector,
    name: fc.option(tokenName),
    permissions: sometimes(permissions, 3),
    isActive: sometimes(fc.boolean(), 3),
    expiry: sometimes(expiry, 3)
  }),
  ({ model, asAdmin }, { by, tokenAt, name, permissions, isActive, expiry }) => {
    const id = pick([...model.tokens, { id: MISSING }], tokenAt)?.id ?? MISSING
    const payload = {
      ...(name !== null && { name }),
      ...(permissions && { permissions }),
      ...(isActive !== null && { isActive }),
      ...(expiry && { expiresAt: timeOf(model.now, expiry) })
    }
    return asAdmin(by, { method: 'PUT', url: `/admin/tokens/${id}`, payload }, () => changeToken(model, id, payload))
  }
)

const revoke = command(1, fc.record({ by: selector, tokenAt: selector }), ({ model, asAdmin }, { by, tokenAt }) => {
  const id = pick([...model.tokens, { id: MISSING }], tokenAt)?.id ?? MISSING
  return asAdmin(by, { method: 'DELETE', url: `/admin/tokens/${id}` }, () => revokeToken(model, id))
})

const rotate = command(
  1,
  fc.record({ by: selector, tokenAt: selector, overlapSeconds: fc.constantFrom(0, 1, 3600) }),
  ({ model, asAdmin }, { by, tokenAt, overlapSeconds }) => {
    const id = pick([...model.tokens, { id: MISSING }], tokenAt)?.id ?? MISSING
    const call = { method: 'POST', url: `/admin/tokens/${id}/rotate`, payload: { overlapSeconds } } as const
    return asAdmin(by, call, (_, returned) => rotateToken(model, id, overlapSeconds, String(returned?.token)))
  }
)

/** Reads with the secret that a token had before its last rotation. */
const useOldSecret = command(1, selector, async ({ model, check }, n) => {
  const token = pick(
    model.tokens.filter(({ previous }) => previous !== null),
    n
  )
  if (!token?.previous) return
  const { secret } = token.previous
  await check({ method: 'GET', url: '/data/_me', headers: bearer({ secret }) }, () => {
    authenticateToken(model, validPrevious(model, token) && token)
    return identityOf(model, token)
  })
})

export const listTokens = command(1, selector, ({ model, asAdmin }, by) =>
  asAdmin(by, { method: 'GET', url: '/admin/tokens' }, () => model.tokens.map((token) => toListedToken(model, token)))
)

const identify = command(2, selector, ({ model, asToken }, by) =>
  asToken([by, 'read', ''], { method: 'GET', url: '/data/_me' }, (token) => identityOf(model, token))
)

export const tokenCommands = {
  issueToken: issue,
  changeToken: change,
  revokeToken: revoke,
  rotateToken: rotate,
  useOldSecret,
  listTokens,
  readTokenIdentity: identify
}

import fc from 'fast-check'
import { type Action, actions } from '../../../../schemas/token.ts'
import { changeToken, revokeToken, toListedToken } from '../accounts.ts'
import { reaches } from '../model.ts'
import { command, pick } from '../world.ts'
import { respell, seldom, tableName, text, which } from './choices.ts'

const MISSING = 999_999

const permissions = fc.record(
  {
    tables: fc.array(
      fc.oneof(
        fc.tuple(tableName, which).map(([name, n]) => respell(name, n)),
        fc.constant('*')
      ),
      { maxLength: 3 }
    ),
    actions: fc.subarray<Action>([...actions])
  },
  { noNullPrototype: true }
)

/** Milliseconds from now, or a time that is given as it is. */
const expiry = fc.oneof(
  fc.constantFrom(-1000, 0, 1, 1000, 60_000, 3_600_000).map((after) => ({ after })),
  fc.constantFrom(null, 0, 1e9, 1.8e9, 1e11, 1e11 + 1).map((at) => ({ at }))
)
type Expiry = { readonly after: number } | { readonly at: number | null }

const timeOf = (now: number, expiry: Expiry) => ('at' in expiry ? expiry.at : now + expiry.after)

const tokenName = text.map((name) => `t${name}`)

const issue = command(
  3,
  fc.record({ by: which, name: tokenName, permissions, expiry: seldom(expiry, 3) }),
  ({ model, issue }, { by, name, permissions, expiry }) =>
    issue(by, { name, permissions, ...(expiry && { expiresAt: timeOf(model.now, expiry) }) })
)

const change = command(
  3,
  fc.record({
    by: which,
    who: which,
    name: fc.option(tokenName),
    permissions: seldom(permissions, 3),
    isActive: seldom(fc.boolean(), 3),
    expiry: seldom(expiry, 3)
  }),
  ({ model, asAdmin }, { by, who, name, permissions, isActive, expiry }) => {
    const id = pick([...model.tokens, { id: MISSING }], who)?.id ?? MISSING
    const payload = {
      ...(name !== null && { name }),
      ...(permissions && { permissions }),
      ...(isActive !== null && { isActive }),
      ...(expiry && { expiresAt: timeOf(model.now, expiry) })
    }
    return asAdmin(by, { method: 'PUT', url: `/admin/tokens/${id}`, payload }, () => changeToken(model, id, payload))
  }
)

const revoke = command(1, fc.record({ by: which, who: which }), ({ model, asAdmin }, { by, who }) => {
  const id = pick([...model.tokens, { id: MISSING }], who)?.id ?? MISSING
  return asAdmin(by, { method: 'DELETE', url: `/admin/tokens/${id}` }, () => revokeToken(model, id))
})

export const listTokens = command(1, which, ({ model, asAdmin }, by) =>
  asAdmin(by, { method: 'GET', url: '/admin/tokens' }, () => model.tokens.map(toListedToken))
)

const identify = command(2, which, ({ model, asToken }, by) =>
  asToken([by, 'read', ''], { method: 'GET', url: '/data/_me' }, (token) => {
    const { name, permissions, expiresAt } = token
    const tables = model.registered.filter((table) => table.isPublished && reaches(token, table.name))
    return { name, permissions, expires_at: expiresAt, tables: tables.map((table) => table.name) }
  })
)

export const tokenCommands = {
  issueToken: issue,
  changeToken: change,
  revokeToken: revoke,
  listTokens,
  readTokenIdentity: identify
}

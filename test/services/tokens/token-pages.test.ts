import t from 'tap'
import { pageOf } from '../../../services/tokens/token-pages.ts'

const tokens = [1, 2, 3].map((id) => ({
  id,
  name: `token ${id}`,
  tokenPrefix: 'rh_********',
  role: id === 1 ? null : { id, claims: {} }
}))
const nameOfRole = new Map([[2, 'Reader']])
const roleNameOf = ({ id }: { readonly id: number }) => nameOfRole.get(id) ?? null
const idsOf = (query: Parameters<typeof pageOf>[1]) => pageOf(tokens, query, roleNameOf).map(({ id }) => id)

t.test('without a query, all tokens are returned', async (t) => t.strictSame(idsOf({}), [1, 2, 3]))

t.test('a page has the next tokens that match', async (t) => {
  t.strictSame(idsOf({ after: 1, limit: 1 }), [2])
  t.strictSame(idsOf({ search: 'TOKEN', after: 1 }), [2, 3])
})

t.test('a role that another program has deleted matches nothing', async (t) =>
  t.strictSame(idsOf({ search: 'reader' }), [2])
)

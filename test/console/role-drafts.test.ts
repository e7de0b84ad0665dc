import t from 'tap'
import { loadSource } from './source.ts'

interface Drafts {
  readonly toDraft: (role: object, registered: readonly object[]) => object
  readonly toGrants: (draft: object, registered: readonly object[]) => readonly object[]
  readonly isValid: (draft: object, registered: readonly object[]) => boolean
}

interface Claims {
  readonly toClaimDrafts: (claims: object) => readonly { readonly kind: string }[]
  readonly toClaims: (drafts: readonly object[]) => object
  readonly claimProblems: (drafts: readonly object[]) => ReadonlyMap<number, string>
}

const { toDraft, toGrants, isValid } = await loadSource<Drafts>(t, 'roles/draft.ts')
const { toClaimDrafts, toClaims, claimProblems } = await loadSource<Claims>(t, 'tokens/claims.ts')

const text = { jsonType: 'string', sqliteType: 'TEXT', isExact: true }
const ORDERS = {
  name: 'orders',
  kind: 'table',
  fields: [
    { ...text, name: 'state' },
    { name: 'total', jsonType: 'number', sqliteType: 'REAL', isExact: true },
    { name: 'paid', jsonType: 'boolean', sqliteType: 'INTEGER', isExact: true },
    { name: 'extra', jsonType: 'object', sqliteType: 'TEXT', isExact: true }
  ],
  foreignKeys: []
}

const OPEN = { where: { state: { eq: 'open' } } }

t.test('grants are stored as they were read, if nothing is edited', async (t) => {
  const read = ['read']
  const grants = [
    { tables: ['orders'], actions: read },
    { tables: ['Orders', '*', 'later'], actions: ['read', 'schema'], rows: OPEN },
    { tables: ['orders'], actions: read, rows: { where: { ...OPEN.where, total: { gte: 5, lt: 9 } } } },
    { tables: ['orders'], actions: read, rows: { none: [OPEN] } },
    { tables: ['orders'], actions: read, rows: {} },
    { tables: ['later'], actions: read, rows: OPEN },
    { tables: ['orders'], actions: read, fields: { read: [] } },
    { tables: ['orders'], actions: read, fields: { write: ['state', 'gone'] } },
    {
      tables: ['orders'],
      actions: ['create'],
      presets: { state: 'new', total: 1.5, paid: false, extra: { a: [1] }, gone: 7 }
    },
    { tables: ['later'], actions: ['create'], presets: { a: null, b: 'x', c: 5, d: { $claim: 'mine' } } }
  ]
  const draft = toDraft({ name: 'r', grants }, [ORDERS])
  t.strictSame(toGrants(draft, [ORDERS]), grants)
  t.equal(isValid(draft, [ORDERS]), true)
})

t.test('claims are stored as they were read, if nothing is edited', async (t) => {
  const claims = {
    text: 'Ada',
    number: 17,
    digits: '17',
    texts: ['a', 'b, c', ' d'],
    numbers: [1, -2],
    mixed: ['a', 1],
    none: [],
    empty: '',
    blank: ' ',
    lines: 'a\nb',
    listOfLines: ['a\nb']
  }
  const drafts = toClaimDrafts(claims)
  t.strictSame(toClaims(drafts), claims)
  t.equal(claimProblems(drafts).size, 0)
  t.strictSame(
    drafts.map(({ kind }) => kind),
    ['text', 'integer', 'text', 'texts', 'integers', 'json', 'json', 'json', 'json', 'json', 'json']
  )
})

import t, { type Test } from 'tap'
import { asAdmin, bearer, type Client, client, createDatabase, dataOf, importTable, startApp } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { createRandom, type Random, SEED } from './random.ts'

// Random lists and queries of a key under random rules. In the warm service, a key of the same role with other claims sends each
// request first. In the cold service, no form of a rule is cached. All pages are the same, and together they are the whole list.

const COUNT = scaled(900)
/** For each role. */
const REQUESTS = 6

const VALUES = [0, 1, 2, 3, 'a', 'A', 'b', 'B', '1', '']
const NUMBERS = [0, 1, 2, 3]
const TEXTS = ['a', 'A', 'b', 'B', '1', '']

/** The columns of each table besides its key and its references. */
const DECLARED = 'n INTEGER, x TEXT, c TEXT COLLATE NOCASE'

/** Each table, with the references of its records. `plain` and `composite` have no rowid. */
const TABLES = {
  top: { key: 'id INTEGER PRIMARY KEY', end: '', references: {} },
  middle: { key: 'id INTEGER PRIMARY KEY', end: '', references: { top: 'top' } },
  low: { key: 'id INTEGER PRIMARY KEY', end: '', references: { middle: 'middle', other: 'top' } },
  plain: { key: 'id TEXT PRIMARY KEY', end: 'WITHOUT ROWID', references: { middle: 'middle', other: 'low' } },
  composite: { key: 'id INTEGER, part TEXT', end: 'WITHOUT ROWID', references: { low: 'low', plain: 'plain' } },
  text: { key: 'id TEXT PRIMARY KEY', end: '', references: { plain: 'plain', low: 'low' } }
} as const

type Name = keyof typeof TABLES
const NAMES = Object.keys(TABLES) as Name[]
const ROWS = 12

const referencesOf = (name: Name): readonly (readonly [column: string, table: Name])[] =>
  Object.entries(TABLES[name].references) as (readonly [string, Name])[]

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))

const createSql = (name: Name, random: Random) => {
  const { key, end } = TABLES[name]
  const references = referencesOf(name)
  const declared = references.map(([column, table]) => `${column} REFERENCES ${table} (id)`)
  const last = name === 'composite' ? ['PRIMARY KEY (id, part)'] : []
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const keys = name === 'composite' ? [index + 1, random.pick(TEXTS)] : [index + 1]
    const links = references.map(() => (random.chance(0.2) ? null : 1 + random.below(ROWS)))
    return `(${[...keys, ...links, random.pick(NUMBERS), random.pick(TEXTS), random.pick(TEXTS)].map(literal).join(', ')})`
  })
  return `CREATE TABLE ${name} (${[key, ...declared, DECLARED, ...last].join(', ')}) ${end};
    INSERT INTO ${name} VALUES ${rows.join(', ')};`
}

const SQL = `PRAGMA foreign_keys = OFF; ${NAMES.map((name) => createSql(name, createRandom(SEED))).join('\n')}`

const start = async (t: Test) => {
  const app = await startApp(t, { env: { DATABASE: createDatabase(t, SQL) } })
  const admin = await asAdmin(app)
  const ids: number[] = []
  for (const name of NAMES) ids.push((await importTable(admin, name)).id)
  /** Replaces every table in memory, and with it all that is cached for it. */
  const forget = async (label: string) => {
    for (const id of ids) dataOf(await admin.put(`/admin/tables/${id}`, { label }))
  }
  return { app, admin, forget }
}

type Claims = Record<string, unknown>

/** Returns a condition for a field. It compares a claim, of which both keys get a value. */
const randomWhere = (random: Random, both: readonly Claims[]) => {
  const field = random.pick(['n', 'x', 'c'])
  const operator = random.pick(['eq', 'ne', 'gt', 'lte', 'in', 'notIn', ...(field === 'n' ? [] : ['contains'])])
  const isList = operator === 'in' || operator === 'notIn'
  const texts = operator === 'contains' ? TEXTS.filter((text) => text !== '') : TEXTS
  const values: readonly unknown[] = field === 'n' ? NUMBERS : texts
  const name = `claim${Object.keys(both[0] as Claims).length}`
  for (const claims of both) claims[name] = isList ? [random.pick(values), random.pick(values)] : random.pick(values)
  return { where: { [field]: { [operator]: { $claim: name } } } }
}

const randomRule = (table: Name, random: Random, both: readonly Claims[], depth = 0): object | undefined => {
  const references = referencesOf(table)
  const way = random.below(depth === 0 ? 5 : 4)
  if (way === 4) return undefined
  if (way === 3 && depth < 2)
    return { [random.pick(['all', 'any', 'none'])]: [0, 1].map(() => randomWhere(random, both)) }
  if (way === 2 && references.length > 0 && depth < 2) {
    const [column, parent] = random.pick(references)
    return { via: { [column]: randomRule(parent, random, both, depth + 1) ?? randomWhere(random, both) } }
  }
  return randomWhere(random, both)
}

const randomGrant = (table: Name, random: Random, both: readonly Claims[]) => {
  const rows = randomRule(table, random, both)
  const read = ['id', 'n', 'x', 'c', ...referencesOf(table).map(([column]) => column)]
  return { tables: [table], actions: ['read'], ...(rows && { rows }), ...(random.chance(0.3) && { fields: { read } }) }
}

/** Returns the path of a reference, such as `middle.top`. */
const randomPath = (table: Name, random: Random, depth = 1): string => {
  const [column, target] = random.pick(referencesOf(table))
  const ends = depth === 3 || referencesOf(target).length === 0 || random.chance(0.5)
  return ends ? column : `${column}.${randomPath(target, random, depth + 1)}`
}

const randomField = (table: Name, random: Random) =>
  random.chance(0.6) ? random.pick(['n', 'x', 'c']) : `${randomPath(table, random)}.${random.pick(['n', 'x', 'c'])}`

/** Returns the body of a query, without its page. */
const randomQuery = (table: Name, random: Random) => {
  const paths = Array.from({ length: 1 + random.below(3) }, () => randomPath(table, random))
  const expand = paths.map((path) => path + random.pick(['', '', '(n)', '(x,c)']))
  const operand = (name: string) => (name.endsWith('n') ? random.pick(NUMBERS) : random.pick(TEXTS))
  const name = randomField(table, random)
  const filter = { where: { [name]: { [random.pick(['eq', 'ne', 'gte'])]: operand(name) } } }
  return {
    ...(random.chance(0.8) && { expand }),
    ...(random.chance(0.4) && { filter }),
    ...(random.chance(0.6) && { order: `${random.pick(['', '-'])}${randomField(table, random)}` }),
    ...(random.chance(0.2) && { q: String(random.pick(VALUES)) }),
    ...(random.chance(0.3) && { fields: ['n', 'x'] })
  }
}

interface Page {
  readonly rows: readonly object[]
  readonly next: string | null
  readonly total?: number
}

/** Reads all pages of a query by cursors, and those of the same list by number. */
const readAll = async (token: Client, table: Name, body: object, size: number) => {
  const pages: Page[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = dataOf(await token.post(`/data/${table}/query`, { ...body, size, cursor, total: true }))
    pages.push(page)
    cursor = page.next
  }
  const query = Object.entries(body).map(([name, value]) => {
    const text = typeof value === 'string' ? value : name === 'filter' ? JSON.stringify(value) : value.join(',')
    return `${name}=${encodeURIComponent(text)}`
  })
  const list = (further: string) => token.get(`/data/${table}?${[...query, further].join('&')}`).then(dataOf)
  const second = (await list(`size=${size}&page=2`)) as Page
  const whole = (await list('size=100')) as Page
  return { pages: pages.map(({ rows, total }) => ({ rows, total })), second: second.rows, whole: whole.rows }
}

t.test(`a warm service responds as a cold one, seed ${SEED}`, async (t) => {
  const [cold, warm] = [await start(t), await start(t)]
  for (let index = 0; index < COUNT; index += 1) {
    const random = createRandom(SEED + index)
    const both: readonly [Claims, Claims] = [{}, {}]
    const grants = NAMES.map((name) => randomGrant(name, random, both))
    const [ann, ben] = both
    const issue = async ({ admin, app }: typeof cold, claims: Claims) => {
      const { token } = dataOf(await admin.post('/admin/tokens', { name: 'key', role: `role ${index}`, claims }))
      return client(app, bearer(token))
    }
    for (const { admin } of [cold, warm]) dataOf(await admin.post('/admin/roles', { name: `role ${index}`, grants }))
    const [benInCold, annInWarm, benInWarm] = [await issue(cold, ben), await issue(warm, ann), await issue(warm, ben)]
    await cold.forget(`case ${index}`)
    for (let request = 0; request < REQUESTS; request += 1) {
      const table = random.pick(NAMES.slice(1))
      const body = randomQuery(table, random)
      const size = random.pick([1, 3, 5])
      const expected = await readAll(benInCold, table, body, size)
      await readAll(annInWarm, table, body, size)
      const found = await readAll(benInWarm, table, body, size)
      const sent = { case: index, table, body, size, grants, claims: ben }
      const together = found.pages.flatMap(({ rows }) => rows)
      const isSame =
        t.strictSame(found, expected, 'a warm service', sent) &&
        t.strictSame(together, found.whole, 'the pages are the whole list', sent) &&
        t.strictSame(found.second, found.whole.slice(size, 2 * size), 'the second page', sent)
      if (!isSame) return
    }
  }
})

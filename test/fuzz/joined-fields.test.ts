import t from 'tap'
import { asAdmin, asToken, createDatabase, dataOf, importTable, startApp } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { openServed } from '../served.ts'
import { createRandom, SEED } from './random.ts'

const COUNT = scaled(3000)

const random = createRandom(SEED)

/** Values that the affinities and collations of the columns compare in different ways. */
const VALUES = [null, 0, 1, 2, 10, 1.5, 'a', 'A', 'b', 'B', '1', '10', '', 'é']

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
const values = (count: number) => Array.from({ length: count }, () => literal(random.pick(VALUES))).join(', ')
const rows = (count: number, columns: number) =>
  Array.from({ length: count }, (_, index) => `(${index + 1}, ${values(columns)})`).join(', ')

const COLUMNS = ['n', 'x', 'c', 'r', 'u']
const DECLARED = 'n INTEGER, x TEXT, c TEXT COLLATE NOCASE, r REAL, u'

const file = createDatabase(
  t,
  `PRAGMA foreign_keys = OFF;
   CREATE TABLE top (id INTEGER PRIMARY KEY, ${DECLARED});
   CREATE TABLE mid (id INTEGER PRIMARY KEY, top INTEGER REFERENCES top (id), ${DECLARED});
   CREATE TABLE low (id INTEGER PRIMARY KEY, mid TEXT REFERENCES mid (id), ${DECLARED});
   INSERT INTO top VALUES ${rows(8, 5)};
   INSERT INTO mid VALUES ${rows(15, 6)};
   INSERT INTO low VALUES ${rows(60, 6)};`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
for (const name of ['top', 'mid', 'low']) await importTable(admin, name)
const token = await asToken(app, admin)
const database = openServed(t, file, { readonly: true })

/** The fields as a request and as SQL name them. */
const FIELDS = [
  ...COLUMNS.map((name) => [name, `low.${name}`] as const),
  ...COLUMNS.map((name) => [`mid.${name}`, `mid.${name}`] as const),
  ...COLUMNS.map((name) => [`mid.top.${name}`, `top.${name}`] as const)
]

const OPERATORS = { eq: '=', ne: 'IS NOT', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

const operandOf = (name: string) => {
  if (name.endsWith('n')) return random.pick([0, 1, 2, 10])
  return name.endsWith('r') ? random.pick([0, 1, 1.5, 10]) : random.pick(['a', 'A', 'b', '1', '10', ''])
}

/** Returns a condition as a request and as SQL have it. */
const randomCondition = (): readonly [object, string] => {
  const [name, column] = random.pick(FIELDS)
  if (random.chance(0.2)) return [{ where: { [name]: { isNull: true } } }, `${column} IS NULL`]
  const [operator, sql] = random.pick(Object.entries(OPERATORS))
  const operand = operandOf(name)
  return [{ where: { [name]: { [operator]: operand } } }, `${column} ${sql} ${literal(operand)}`]
}

const randomFilter = (): readonly [object, string] => {
  const conditions = [randomCondition(), randomCondition()]
  const sent = conditions.map(([filter]) => filter)
  const sqls = conditions.map(([, sql]) => `(${sql})`)
  const [part, sql] = random.pick([
    ['all', sqls.join(' AND ')],
    ['any', sqls.join(' OR ')],
    ['none', `(${sqls.join(' OR ')}) IS NOT TRUE`]
  ] as const)
  return [{ [part]: sent }, sql]
}

t.test(`lists by fields of other records agree with SQLite, seed ${SEED}`, async (t) => {
  for (let index = 0; index < COUNT; index += 1) {
    const [filter, where] = randomFilter()
    const [name, column] = random.pick(FIELDS)
    const isDescending = random.chance(0.5)
    const order = `${isDescending ? '-' : ''}${name}`
    const sql = `SELECT low.id FROM low LEFT JOIN mid ON mid.id = +low.mid LEFT JOIN top ON top.id = mid.top
      WHERE ${where} ORDER BY ${column}${isDescending ? ' DESC' : ''}, low.id`
    const expected = database.prepare(sql).pluck().all()
    const found: unknown[] = []
    const size = random.pick([7, 100])
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { rows: readonly { id: number }[]; next: string | null; total: number } = dataOf(
        await token.post('/data/low/query', { filter, order, cursor, size, total: true })
      )
      found.push(...page.rows.map(({ id }) => id))
      if (page.total !== expected.length) t.equal(page.total, expected.length, sql)
      cursor = page.next
    }
    if (!t.strictSame(found, expected, sql)) return
  }
})

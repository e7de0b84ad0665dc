import t from 'tap'
import { bearer, type Client, client, dataOf, type TestResponse } from '../helpers.ts'
import { isOnCluster } from '../rqlite/cluster.ts'
import { scaled } from '../scale.ts'
import type { Stored } from '../sqlite-oracle.ts'
import { randomFilter } from './query-filters.ts'
import { type ModelFilter, type ModelRow, matches } from './query-model.ts'
import { ROWS, type Served, startTables } from './query-service.ts'
import { type QueryColumn, randomRow } from './query-tables.ts'
import { createRandom, type Random, SEED } from './random.ts'

// Keys with random rules read exactly the records of the rule, and change a record exactly if the rule holds before and after.

const COUNT = scaled(5500)
/** For each rule. */
const FILTERS = 4
const MAX_ROWS = 2 * ROWS

/** The tables whose key is `uid` alone. */
const KEYED = ['plain', 'indexed', 'strictly']

interface Rule {
  readonly sent: object
  readonly model: ModelFilter
  readonly claims: Readonly<Record<string, unknown>>
}

const isClaim = (value: unknown): boolean =>
  typeof value === 'string' || Number.isSafeInteger(value) || (Array.isArray(value) && value.every(isClaim))

const LISTS = ['all', 'any', 'none']

/** Replaces operands by claims. */
const withClaims = (value: unknown, random: Random, claims: Record<string, unknown>): unknown => {
  if (isClaim(value) && random.chance(0.5)) {
    const name = `claim ${Object.keys(claims).length}`
    claims[name] = value
    return { $claim: name }
  }
  if (Array.isArray(value)) return value.map((item) => withClaims(item, random, claims))
  if (typeof value !== 'object' || value === null) return value
  const replaced = Object.entries(value).map(([name, item]) => {
    const isList = LISTS.includes(name) && Array.isArray(item)
    return [name, isList ? item.map((part) => withClaims(part, random, claims)) : withClaims(item, random, claims)]
  })
  return Object.fromEntries(replaced)
}

const randomRule = ({ table }: Served, random: Random): Rule => {
  const [sent, model] = randomFilter(table, random)
  const claims = {}
  return { sent: withClaims(sent, random, claims) as object, model, claims }
}

type Row = { readonly [field: string]: unknown }

const uidOf = (row: ModelRow | undefined) => row?.get('uid') as bigint | undefined
const uidsOf = (rows: readonly ModelRow[]) => rows.map(uidOf).map(String).sort()
const foundIn = (rows: readonly Row[]) => rows.map(({ uid }) => String(uid)).sort()

const show = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
const contentOf = (served: Served) =>
  JSON.stringify(
    served.read().map((row) => [...row]),
    show
  )

interface Case {
  readonly served: Served
  readonly rule: Rule
  readonly token: Client
  readonly random: Random
  /** Asserts that two values are the same. */
  readonly same: (what: string, found: unknown, expected: unknown) => void
}

const isVisible = ({ served, rule }: Case) => {
  const { columns } = served.table
  return (row: ModelRow) => matches(columns, rule.model, row)
}

const maximumOf = (rows: readonly ModelRow[]) =>
  rows.map((row) => Number(uidOf(row))).reduce((a, b) => Math.max(a, b), 0)

const checkReads = async (one: Case) => {
  const { served, token, random, same } = one
  const url = `/data/${served.table.name}`
  const visible = served.read().filter(isVisible(one))
  const query = async (body: object) =>
    dataOf(await token.post(`${url}/query`, { fields: ['uid'], size: 500, ...body }))

  const all = await query({ total: true })
  same('query', foundIn(all.rows), uidsOf(visible))
  same('total', all.total, visible.length)
  for (let index = 0; index < FILTERS; index += 1) {
    const [sent, model] = randomFilter(served.table, random)
    const filtered = visible.filter((row) => matches(served.table.columns, model, row))
    const compute = { rows: { count: true }, last: { max: 'uid' } }
    const [found, { rows }] = await Promise.all([
      query({ filter: sent }),
      token.post(`${url}/aggregate`, { compute, filter: sent }).then(dataOf)
    ])
    same('filter', foundIn(found.rows), uidsOf(filtered))
    same('count', rows[0].rows, filtered.length)
    same('maximum', rows[0].last ?? 0, maximumOf(filtered))
  }
  same('list', dataOf(await token.get(`${url}?page=1&size=1`)).total, visible.length)
  const lines = (await token.get(`${url}/export?format=ndjson&fields=uid`)).body
    .split('\n')
    .filter((line) => line !== '')
  same('export', foundIn(lines.map((line) => JSON.parse(line))), uidsOf(visible))
}

const OUTSIDE = 403
const statusOf = ({ statusCode }: TestResponse) => statusCode

/** Values of a column that is not a part of the key, as JSON and as they are stored. */
const randomValue = ({ table }: Served, random: Random) => {
  const columns = [...table.columns.values()].filter(({ name }) => name !== 'uid' && !table.key.includes(name))
  const column: QueryColumn = random.pick(columns)
  const [json, stored] = random.pick(column.operands)
  return { name: column.name, json, stored }
}

const checkChanges = async (one: Case) => {
  const { served, token, random, same } = one
  const sees = isVisible(one)
  const url = `/data/${served.table.name}/records`
  const row = random.pick(served.read())
  const { name, json, stored } = randomValue(served, random)
  const changed = served.tryUpdate(uidOf(row) as bigint, name, stored)
  const before = contentOf(served)
  const check = (what: string, response: TestResponse, expected: number) => {
    same(`${what}, status`, statusOf(response), expected)
    if (expected !== 200) same(`${what}, content`, contentOf(served), before)
  }
  const allowed = sees(changed) ? 200 : OUTSIDE
  same('read', statusOf(await token.get(`${url}/${uidOf(row)}`)), sees(row) ? 200 : 404)
  const way = random.below(3)
  if (way === 0) check('update', await token.put(`${url}/${uidOf(row)}`, { [name]: json }), sees(row) ? allowed : 404)
  if (way === 1) {
    const values = { uid: Number(uidOf(row)), [name]: json }
    check('upsert', await token.post(`${url}?upsert=uid`, values), sees(row) ? allowed : 409)
  }
  if (way === 2) {
    const uid = served.nextUid()
    const created = served.tryInsert(uid, name, stored)
    const values = { uid: Number(uid), [name]: json }
    check(
      'create',
      await token.post(`${url}${random.pick(['', '?upsert=uid'])}`, values),
      sees(created) ? 200 : OUTSIDE
    )
  }
  const again = random.pick(served.read())
  if (served.read().length > MAX_ROWS || random.chance(0.2)) {
    const found = sees(again)
    const response = await token.delete(`${url}/${uidOf(again)}`)
    same('delete', statusOf(response), found ? 200 : 404)
  }
}

/** Changes all records of a filter in one operation. */
const checkFiltered = async (one: Case) => {
  const { served, token, random, same } = one
  const { columns, name: table } = served.table
  const sees = isVisible(one)
  const [filter, model] = randomFilter(served.table, random)
  const { name, json, stored } = randomValue(served, random)
  const affected = served.read().filter((row) => sees(row) && matches(columns, model, row))
  const isAllowed = affected.every((row) => sees(served.tryUpdate(uidOf(row) as bigint, name, stored)))
  const before = contentOf(served)
  const operation = { op: 'update', table, values: { [name]: json }, filter, maxAffected: 1000 }
  const response = await token.post('/data/_batch', { operations: [operation] })
  same('filtered, status', statusOf(response), isAllowed ? 200 : OUTSIDE)
  if (isAllowed) same('affected', dataOf(response).results[0].affected, affected.length)
  else same('filtered, content', contentOf(served), before)
}

t.test('random rules open what the model says', async (t) => {
  const random = createRandom(SEED)
  const { app, admin, tables } = await startTables(t, random)
  // A table without a declared key is read-only on a cluster.
  const changeable = tables.filter(({ table }) => !isOnCluster || !table.key.includes('rowid'))
  let compared = 0
  for (let index = 0; index < COUNT; index += 1) {
    const random = createRandom(SEED + index)
    const served = random.pick(changeable)
    const { name } = served.table
    const rule = randomRule(served, random)
    const grants = [{ tables: [name], actions: ['read', 'create', 'update', 'delete'], rows: rule.sent }]
    const role = dataOf(await admin.post('/admin/roles', { name: `role ${index}`, grants }))
    const issued = dataOf(await admin.post('/admin/tokens', { name: 'key', role: role.name, claims: rule.claims }))
    const same = (what: string, found: unknown, expected: unknown) => {
      compared += 1
      const [a, b] = [found, expected].map((value) => JSON.stringify(value))
      if (a !== b)
        t.fail(`seed ${SEED}, case ${index}: ${name}, ${what}`, {
          found: a,
          expected: b,
          rule: rule.sent,
          claims: rule.claims
        })
    }
    const one = { served, rule, token: client(app, bearer(issued.token)), random, same }
    await checkReads(one)
    if (KEYED.includes(name)) await checkChanges(one)
    await checkFiltered(one)
    while (served.read().length < ROWS) served.insert(randomRow(served.table, random, Number(served.nextUid())))
    dataOf(await admin.delete(`/admin/tokens/${issued.id}`))
    dataOf(await admin.delete(`/admin/roles/${role.id}`))
  }
  t.comment(`seed ${SEED}: ${compared} comparisons`)
  t.ok(compared >= 15 * COUNT)
})

t.test('a second writer that moves records in and out of the rule opens nothing', async (t) => {
  const random = createRandom(SEED)
  const { app, admin, tables } = await startTables(t, random)
  const served = tables.find(({ table }) => table.name === 'plain') as Served
  served.execute(`CREATE TABLE seen (uid, before, after);
    UPDATE plain SET t = 'out', i = 0;
    CREATE TRIGGER log_updates AFTER UPDATE OF i ON plain BEGIN INSERT INTO seen VALUES (new.uid, old.t, new.t); END`)
  const rows = { where: { t: { eq: { $claim: 't' } } } }
  dataOf(
    await admin.post('/admin/roles', { name: 'in', grants: [{ tables: ['plain'], actions: ['read', 'update'], rows }] })
  )
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'key', role: 'in', claims: { t: 'in' } }))
  const token = client(app, bearer(issued.token))
  let acknowledged = 0
  for (let index = 0; index < scaled(3000); index += 1) {
    const uid = BigInt(1 + random.below(ROWS))
    const move = () =>
      served.execute(`UPDATE plain SET t = iif(t = 'in', 'out', 'in') WHERE uid = ${1 + random.below(ROWS)}`)
    move()
    const responses = [
      token.put(`/data/plain/records/${uid}?return=record`, { i: index + 1 }),
      token.post('/data/plain/query', { size: 500 })
    ]
    await new Promise(setImmediate)
    move()
    const [changed, listed] = await Promise.all(responses)
    if (changed?.statusCode === 200) acknowledged += 1
    else t.equal(changed?.statusCode, 404)
    const shown = [...dataOf(listed as TestResponse).rows, changed?.json().data?.record ?? []].flat()
    if (shown.some((row: Row) => row.t !== 'in')) t.fail(`case ${index}: a record outside of the rule`, { shown })
  }
  const seen = served.query('SELECT before, after FROM seen') as readonly (readonly Stored[])[]
  t.equal(seen.length, acknowledged)
  t.ok(seen.length > 0)
  t.ok(seen.every((row) => row.every((value) => value === 'in')))
})

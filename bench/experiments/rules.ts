import { createRole, issueKey } from '../client.ts'
import type { Context } from '../context.ts'
import { type Environment, measureRounds, withEnvironment } from '../environment.ts'
import { alignedTable, atLeast, figureTable, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { BRANDS_TABLE, QUERIED_TABLE, ROWS, TABLE, type Workload } from '../workloads.ts'

/** Each has another claim: `qty` has the values 0 to 999. */
const KEYS = 1000
const ROLE = 'of one quantity'
const CLAIM = { qty: { eq: { $claim: 'qty' } } }

const GRANTS = [
  { tables: [QUERIED_TABLE], actions: ['read'], rows: { where: CLAIM } },
  { tables: [TABLE], actions: ['read'], rows: { where: { qty: { gte: { $claim: 'least' } } } } }
]

const randomBelow = (end: number) => Math.floor(Math.random() * end)

/** `tokenOf`: undefined for the token without a role. */
const casesOf = (tokenOf: () => string | undefined, name: string, filter: string): readonly Workload[] => {
  const get = (path: string) => {
    const token = tokenOf()
    return { method: 'GET' as const, path, ...(token !== undefined && { token }) }
  }
  const common = { target: null, isWrite: false }
  return [
    { ...common, name: `read, ${name}`, request: () => get(`/data/${TABLE}/records/${1 + randomBelow(ROWS)}`) },
    { ...common, name: `list, ${name}`, request: () => get(`/data/${QUERIED_TABLE}?total=false&${filter}`) }
  ]
}

const issueKeys = async ({ service, session }: Environment) => {
  const { address } = service
  await createRole(address, session, { name: ROLE, grants: GRANTS })
  const keys: string[] = []
  while (keys.length < KEYS) {
    const claims = { qty: keys.length, least: 0 }
    keys.push(await issueKey(address, session, { name: `key ${keys.length}`, role: ROLE, claims }))
  }
  return keys
}

/** Reads and lists with a rule of a role, by one key and by 1,000, beside the same requests without a rule. */
export const runRules = (context: Context) =>
  withEnvironment(context, { tables: [TABLE, BRANDS_TABLE, QUERIED_TABLE], rows: ROWS }, async (environment) => {
    const keys = await issueKeys(environment)
    const filter = `filter=${encodeURIComponent(JSON.stringify({ where: { qty: { eq: 7 } } }))}`
    const cases = [
      ...casesOf(() => undefined, 'no rule', filter),
      ...casesOf(() => keys[7], 'one key', ''),
      ...casesOf(() => keys[randomBelow(KEYS)], `${KEYS} keys`, '')
    ]
    const samples = await measureRounds(environment, cases, context.plan.rounds)
    const [reads = [], lists = [], ownReads = [], ownLists = [], manyReads = [], manyLists = []] = samples
    const share = (own: readonly Sample[], base: readonly Sample[]) => ratioOf('perSecond', own, base)
    const figures = [
      { name: 'read with a rule / without', share: share(ownReads, reads), target: 0.9 },
      { name: 'list with a rule / with the same filter', share: share(ownLists, lists), target: 0.85 },
      { name: `read by ${KEYS} keys / by one`, share: share(manyReads, ownReads), target: 0.9 },
      { name: `list by ${KEYS} keys / by one`, share: share(manyLists, ownLists), target: 0.9 }
    ]
    return [
      `${ROWS} rows.`,
      alignedTable([SAMPLE_HEAD, ...cases.map(({ name }, index) => sampleRow(name, samples[index] ?? []))]),
      figureTable(
        figures.map(({ name, share, target }) => ({ name, value: ratio(share), target: atLeast(share, target) }))
      )
    ].join('\n')
  })

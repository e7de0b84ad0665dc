import { queryRecords } from '../client.ts'
import type { Context } from '../context.ts'
import { type Environment, measureRounds, withEnvironment } from '../environment.ts'
import { alignedTable, atLeast, figureTable, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, sampleRow } from '../sample.ts'
import {
  BRANDS_TABLE,
  filteredList,
  filteredListWithTotal,
  findWorkload,
  QUERIED_TABLE,
  queryOf,
  TABLE
} from '../workloads.ts'

const WALK_SIZE = 1000
/** The cursor page begins after this share of the rows. */
const DEPTH = 0.9

const list = findWorkload('list')
const first = queryOf('query, first page', () => ({}))
const expanded = queryOf('query, expand', () => ({ expand: ['qty'] }))

const findDeepCursor = async ({ service, token }: Environment, rows: number) => {
  let cursor = ''
  for (let read = 0; read < rows * DEPTH; read += WALK_SIZE) {
    const body = { size: WALK_SIZE, cursor, fields: ['id'] }
    cursor = await queryRecords(`${service.address}/data/${QUERIED_TABLE}/query`, token, body)
  }
  return cursor
}

/** Reads a large table: lists with and without a filter, and queries of several pages, one with expanded references. */
export const runQueries = async (context: Context) => {
  const { rounds, exportedRows: rows } = context.plan
  const tables = [TABLE, BRANDS_TABLE, QUERIED_TABLE]
  return withEnvironment(context, { tables, rows }, async (environment) => {
    const cursor = await findDeepCursor(environment, rows)
    const deep = queryOf('query, deep cursor', () => ({ cursor }))
    const cases = [list, filteredList, first, deep, expanded, filteredListWithTotal]
    const samples = await measureRounds(environment, cases, rounds)
    const [lists = [], filters = [], firsts = [], deeps = [], expansions = [], counted = []] = samples
    const figures = [
      { name: 'list with a filter / list with total', share: ratioOf('perSecond', filters, lists), target: 1 },
      {
        name: 'list with a filter and its total / list with total',
        share: ratioOf('perSecond', counted, lists),
        target: 0.5
      },
      { name: 'deep cursor / first page', share: ratioOf('perSecond', deeps, firsts), target: 0.9 },
      { name: 'expand / without', share: ratioOf('perSecond', expansions, firsts), target: 0.6 }
    ]
    return [
      `${rows} rows.`,
      alignedTable([SAMPLE_HEAD, ...cases.map(({ name }, index) => sampleRow(name, samples[index] ?? []))]),
      figureTable(
        figures.map(({ name, share, target }) => ({
          name,
          value: ratio(share),
          target: atLeast(share, target)
        }))
      )
    ].join('\n')
  })
}

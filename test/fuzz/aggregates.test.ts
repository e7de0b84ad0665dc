import t from 'tap'
import { type Client, dataOf } from '../helpers.ts'
import { scaled } from '../scale.ts'
import type { Stored } from '../sqlite-oracle.ts'
import { randomFilter } from './query-filters.ts'
import { compareStored, type ModelFilter, type ModelRow, matches } from './query-model.ts'
import { ROWS, type Served, startTables } from './query-service.ts'
import { type QueryColumn, type QueryTable, randomRow } from './query-tables.ts'
import { createRandom, type Random, SEED } from './random.ts'

const ROUNDS = scaled(1000)
/** Aggregates of the same random rows. */
const CASES = 12
const LARGE = 500
const SIZES = [1, 2, 5, 1000]
const TOLERANCE = 1e-12

type FunctionName = 'count' | 'sum' | 'avg' | 'min' | 'max' | 'countDistinct'

interface Output {
  readonly name: string
  readonly call: FunctionName
  readonly column: QueryColumn
}

interface OrderItem {
  readonly name: string
  readonly isDescending: boolean
}

interface Case {
  readonly filter: ModelFilter
  readonly groups: readonly QueryColumn[]
  readonly outputs: readonly Output[]
  readonly order: readonly OrderItem[]
  /** A count, and the least number of it. */
  readonly having: readonly [output: Output, least: number] | undefined
  readonly size: number
  readonly body: object
}

/** A row with its values as a list shows them. */
interface Row {
  readonly stored: ModelRow
  readonly shown: Readonly<Record<string, unknown>>
}

const isNumeric = ({ affinity }: QueryColumn) => affinity === 'INTEGER' || affinity === 'REAL'

/** In a table that is not STRICT, a numeric column may have texts, which SQLite converts before it adds them. */
const callsFor = ({ isLoose }: QueryTable, column: QueryColumn): readonly FunctionName[] => [
  ...(['count', 'min', 'max', 'countDistinct'] as const),
  ...(!isLoose && isNumeric(column) ? (['sum', 'sum', 'avg'] as const) : [])
]

const isCount = ({ call }: Output) => call === 'count' || call === 'countDistinct'

/** Values whose order is certain: of equal texts under a collation, min and max may return any. */
const isSortable = (output: Output) => {
  const { call, column } = output
  if (isCount(output)) return true
  return call === 'sum' ? column.affinity === 'INTEGER' : call !== 'avg' && column.collation === 'BINARY'
}

const randomOutput = (table: QueryTable, random: Random, index: number): Output => {
  const columns = [...table.columns.values()]
  const column = random.pick(random.chance(0.4) ? columns.filter(isNumeric) : columns)
  return { name: `v${index}`, call: random.pick(callsFor(table, column)), column }
}

const toCall = ({ name, call, column }: Output) => [name, { [call]: call === 'count' ? true : column.name }]

const randomCase = (table: QueryTable, random: Random): Case => {
  const [sent, filter] = random.chance(0.5) ? [undefined, {}] : randomFilter(table, random, 1)
  const columns = [...table.columns.values()]
  const groups = [...new Set(Array.from({ length: random.below(3) }, () => random.pick(columns)))]
  const outputs = Array.from({ length: 1 + random.below(4) }, (_, index) => randomOutput(table, random, index))
  const names = [...groups, ...outputs.filter(isSortable)].map(({ name }) => name)
  const order = names.filter(() => random.chance(0.4)).map((name) => ({ name, isDescending: random.chance(0.5) }))
  const text = order.map(({ name, isDescending }) => `${isDescending ? '-' : ''}${name}`).join(',')
  const counts = outputs.filter(isCount)
  const having = counts.length > 0 && random.chance(0.3) ? ([random.pick(counts), random.below(5)] as const) : undefined
  const size = random.pick(SIZES)
  return {
    filter,
    groups,
    outputs,
    order,
    having,
    size,
    body: {
      ...(sent && { filter: sent }),
      ...(groups.length > 0 && { groupBy: groups.map(({ name }) => name) }),
      compute: Object.fromEntries(outputs.map(toCall)),
      ...(having && { having: { [having[0].name]: { gte: having[1] } } }),
      ...(text !== '' && { order: text }),
      size
    }
  }
}

const valueIn = ({ stored }: Row, { name }: QueryColumn) => stored.get(name) as Stored

const isEqual = (column: QueryColumn, a: Row, b: Row) =>
  compareStored(column, valueIn(a, column), valueIn(b, column)) === 0

/** Returns the rows whose value no other one precedes. Their values may differ in JSON. */
const firstRows = (column: QueryColumn, rows: readonly Row[], sign: number): readonly Row[] => {
  const first = rows.toSorted((a, b) => sign * compareStored(column, valueIn(a, column), valueIn(b, column)))[0]
  return first ? rows.filter((row) => isEqual(column, row, first)) : []
}

const groupRows = (groups: readonly QueryColumn[], rows: readonly Row[]) => {
  if (groups.length === 0) return [rows]
  const found: Row[][] = []
  for (const row of rows) {
    const members = found.find(([first]) => groups.every((column) => isEqual(column, row, first as Row)))
    if (members) members.push(row)
    else found.push([row])
  }
  return found
}

const withValue = (column: QueryColumn, rows: readonly Row[]) => rows.filter((row) => valueIn(row, column) !== null)

const integersIn = (column: QueryColumn, rows: readonly Row[]) =>
  withValue(column, rows).map((row) => valueIn(row, column) as bigint)

const total = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n)

const isInt64 = (value: bigint) => BigInt.asIntN(64, value) === value

const isIntegerSum = ({ call, column }: Output) => call === 'sum' && column.affinity === 'INTEGER'

/** SQLite adds in any order: a sum may exceed 64 bits on the way to a result that does not. */
const mayOverflow = (output: Output, rows: readonly Row[]) => {
  if (!isIntegerSum(output)) return false
  const values = integersIn(output.column, rows)
  return [values.filter((value) => value > 0n), values.filter((value) => value < 0n)].some(
    (part) => !isInt64(total(part))
  )
}

const mustOverflow = (output: Output, rows: readonly Row[]) =>
  isIntegerSum(output) && !isInt64(total(integersIn(output.column, rows)))

const showInteger = (value: bigint) => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value))

/** Whether a number is a sum of doubles, or a part of it, in any order of the additions. */
const isClose = (value: unknown, column: QueryColumn, rows: readonly Row[], divisor: number) => {
  const numbers = rows.map((row) => Number(valueIn(row, column)))
  if (numbers.some((number) => !Number.isFinite(number))) return value === null
  const scale = numbers.reduce((sum, number) => sum + Math.abs(number), 0)
  const expected = numbers.reduce((sum, number) => sum + number, 0) / divisor
  return typeof value === 'number' && Math.abs(value - expected) <= (TOLERANCE * scale) / divisor
}

const isShownBy = (value: unknown, { name }: QueryColumn, rows: readonly Row[]) =>
  rows.length === 0 ? value === null : rows.some(({ shown }) => JSON.stringify(shown[name]) === JSON.stringify(value))

const countDistinct = (column: QueryColumn, rows: readonly Row[]) => groupRows([column], rows).length

const countOf = ({ call, column }: Output, rows: readonly Row[]) =>
  call === 'count' ? rows.length : countDistinct(column, withValue(column, rows))

/** Whether the service may return this value. */
const isExpected = (output: Output, rows: readonly Row[], value: unknown): boolean => {
  const { call, column } = output
  const present = withValue(column, rows)
  switch (call) {
    case 'count':
    case 'countDistinct':
      return value === countOf(output, rows)
    case 'min':
      return isShownBy(value, column, firstRows(column, present, 1))
    case 'max':
      return isShownBy(value, column, firstRows(column, present, -1))
    case 'avg':
      return present.length === 0 ? value === null : isClose(value, column, present, present.length)
    case 'sum':
      if (present.length === 0) return value === null
      if (!isIntegerSum(output)) return isClose(value, column, present, 1)
      return value === showInteger(total(integersIn(column, present)))
  }
}

const BINARY = 'BINARY'

/** Of the values of a group, which are equal under the collation, the first one is shown. */
const isGroupValue = (column: QueryColumn, rows: readonly Row[], value: unknown) =>
  isShownBy(value, column, firstRows({ ...column, collation: BINARY }, rows, 1))

/** A sortable value of a group, and the column by which it is compared. */
const sortKey = ({ groups, outputs }: Case, name: string, rows: readonly Row[]): readonly [QueryColumn, Stored] => {
  const group = groups.find((column) => column.name === name)
  if (group) return [group, valueIn(rows[0] as Row, group)]
  const output = outputs.find((output) => output.name === name) as Output
  const { call, column } = output
  const present = withValue(column, rows)
  const [first] = firstRows(column, present, call === 'max' ? -1 : 1)
  if (isCount(output)) return [column, BigInt(countOf(output, rows))]
  if (call === 'sum') return [column, first ? total(integersIn(column, present)) : null]
  return [column, first ? valueIn(first, column) : null]
}

const compareGroups =
  (query: Case) =>
  (a: readonly Row[], b: readonly Row[]): number => {
    const rest = query.groups.map(({ name }) => ({ name, isDescending: false }))
    for (const { name, isDescending } of [...query.order, ...rest]) {
      const [column, left] = sortKey(query, name, a)
      const result = compareStored(column, left, sortKey(query, name, b)[1])
      if (result !== 0) return isDescending ? -result : result
    }
    return 0
  }

interface Response {
  readonly statusCode: number
  readonly body: string
}

/** Returns the names of the values that differ from plain arithmetic, or of the failure. */
const differences = (query: Case, rows: readonly Row[], { statusCode, body }: Response): readonly string[] => {
  const { groups, outputs, having, size } = query
  const all = groupRows(groups, rows)
  const members = having ? all.filter((part) => countOf(having[0], part) >= having[1]) : all
  const some = (test: typeof mayOverflow) => all.some((part) => outputs.some((output) => test(output, part)))
  const { data, error } = JSON.parse(body)
  if (statusCode !== 200) return error.code === 'AGGREGATE_OVERFLOW' && some(mayOverflow) ? [] : [body]
  // Groups beyond the size may stay uncomputed.
  if (some(mustOverflow) && all.length <= size) return ['a sum does not fit 64 bits']
  const sorted = members.toSorted(compareGroups(query)).slice(0, size)
  if (data.rows.length !== sorted.length) return [`${sorted.length} rows`]
  return sorted.flatMap((part, index) => {
    const row = data.rows[index]
    const wrongGroups = groups.filter((column) => !isGroupValue(column, part, row[column.name]))
    const wrongValues = outputs.filter((output) => !isExpected(output, part, row[output.name]))
    return [...wrongGroups, ...wrongValues].map(({ name }) => `row ${index}: ${name}`)
  })
}

/** Integers up to this size: sums of small ones are exact, sums of large ones may exceed 64 bits. */
const LIMITS = [5n, 2n ** 53n, 2n ** 57n, 2n ** 63n - 1n]

const randomInteger = (random: Random, limit: bigint) => {
  const value = (BigInt(random.below(2 ** 32)) * limit) / 2n ** 32n
  return random.chance(0.5) ? value : -value
}

/** Replaces the rows of a table. Their integers have a random size. */
const refill = ({ table, clear, insert }: Served, random: Random) => {
  clear()
  const limit = random.pick(LIMITS)
  const index = [...table.columns.keys()].filter((name) => name !== 'rowid').indexOf('i')
  const count = random.below(ROWS)
  for (let uid = 1; uid <= count; uid += 1) {
    const row = randomRow(table, random, uid)
    const value = random.chance(0.8) && typeof row[index] === 'bigint' ? randomInteger(random, limit) : row[index]
    insert(row.with(index, value as Stored))
  }
}

const readRows = async ({ id, read }: Served, admin: Client): Promise<readonly Row[]> => {
  const { rows } = dataOf(await admin.get(`/admin/tables/${id}/data?size=${LARGE}`)) as {
    rows: readonly Row['shown'][]
  }
  const shown = new Map(rows.map((row) => [String(row.uid), row]))
  return read().map((stored) => ({ stored, shown: shown.get(String(stored.get('uid'))) ?? {} }))
}

t.test('random aggregates of random rows are those of plain arithmetic', async (t) => {
  const random = createRandom(SEED)
  const { admin, token, tables } = await startTables(t, random)
  // Only these have sums.
  const strict = tables.filter(({ table }) => !table.isLoose)
  const statuses = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const random = createRandom(SEED + round)
    const served = random.pick(random.chance(0.5) ? strict : tables)
    refill(served, random)
    const all = await readRows(served, admin)
    const { name, columns } = served.table
    for (let index = 0; index < CASES; index += 1) {
      const query = randomCase(served.table, random)
      const response = await (random.chance(0.3)
        ? admin.post(`/admin/tables/${served.id}/aggregate`, query.body)
        : token.post(`/data/${name}/aggregate`, query.body))
      const rows = all.filter(({ stored }) => matches(columns, query.filter, stored))
      const wrong = differences(query, rows, response)
      if (wrong.length > 0) {
        t.fail(`seed ${SEED}, round ${round}, case ${index}: ${name}, ${JSON.stringify(query.body)}`, {
          wrong,
          response: response.body
        })
      }
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1)
    }
  }
  const [computed = 0, overflows = 0] = [statuses.get(200), statuses.get(409)]
  t.comment(`seed ${SEED}: ${computed} aggregates, ${overflows} overflows`)
  t.ok(computed > overflows && overflows > 0)
})

import type { AggregateFunction } from '../../../schemas/aggregate.ts'
import type { PlainField as Field } from '../../../services/model/table.ts'
import { invalid, type Model, type Registered, refuse, type Viewer, visibleFields } from './model.ts'
import { comparison, type OrderItem, type Selection, selectRows } from './queries.ts'
import type { Body } from './records.ts'
import type { Row } from './stored-tables.ts'
import { compare, isInt64, isNumeric, type Stored, toJson } from './values.ts'

export interface Aggregate extends Selection {
  readonly groupBy: readonly string[]
  readonly compute: Readonly<Record<string, AggregateFunction>>
  readonly size?: number
}

export type FunctionName = 'count' | 'sum' | 'avg' | 'min' | 'max' | 'countDistinct'

/** A value to compute. Without `field`, the number of records. */
interface Output {
  readonly name: string
  readonly call: FunctionName
  readonly field: Field | undefined
}

const present = (values: readonly Stored[]) => values.filter((value) => value !== null)

const total = (values: readonly Stored[]): bigint => values.reduce((sum: bigint, value) => sum + BigInt(value ?? 0), 0n)

const sumOf = (values: readonly Stored[]): Stored => {
  if (values.length === 0) return null
  return typeof values[0] === 'bigint' ? total(values) : values.reduce((sum: number, value) => sum + Number(value), 0)
}

const extreme = (values: readonly Stored[], sign: number): Stored =>
  values.toSorted((a, b) => sign * compare(a, b))[0] ?? null

const functions: Readonly<Record<FunctionName, (values: readonly Stored[], count: number) => Stored>> = {
  count: (_, count) => BigInt(count),
  countDistinct: (values) => BigInt(new Set(values).size),
  sum: sumOf,
  avg: (values) => (values.length === 0 ? null : Number(sumOf(values)) / values.length),
  min: (values) => extreme(values, 1),
  max: (values) => extreme(values, -1)
}

const valuesOf = ({ field }: Output, rows: readonly Row[]) =>
  field ? present(rows.map((row) => row.get(field.name) ?? null)) : []

/** SQLite adds in any order: a sum may exceed 64 bits on the way to a result that does not. */
const mayOverflow = (output: Output, rows: readonly Row[]) => {
  if (output.call !== 'sum' || output.field?.jsonType !== 'integer') return false
  const values = valuesOf(output, rows) as readonly bigint[]
  const isSumInt64 = (some: readonly bigint[]) => isInt64(total(some))
  return !isSumInt64(values.filter((value) => value > 0n)) || !isSumInt64(values.filter((value) => value < 0n))
}

/** Whether sums of doubles, which depend on the order of the additions, make the value inexact. */
export const isInexact = (call: FunctionName, field: Field | undefined) =>
  call === 'avg' || (call === 'sum' && field?.jsonType === 'number')

const TOLERANCE = 1e-9

/** Returns the value of the response if it is close enough, otherwise the computed one. */
const approximate = (values: readonly Stored[], computed: Stored, returned: unknown) => {
  const scale = values.reduce((sum: number, value) => sum + Math.abs(Number(value)), 0)
  const isClose = typeof returned === 'number' && Math.abs(returned - Number(computed)) <= TOLERANCE * scale
  return isClose || !Number.isFinite(scale) ? returned : computed
}

const showOutput = (output: Output, rows: readonly Row[], computed: Stored, returned: unknown): unknown => {
  const { call, field } = output
  if (computed !== null && isInexact(call, field)) return approximate(valuesOf(output, rows), computed, returned)
  const isCount = call === 'count' || call === 'countDistinct'
  return toJson(isCount ? 'integer' : (field?.jsonType ?? 'integer'), computed)
}

/** No two groups have the same text. */
const keyOf = (groups: readonly Field[], row: Row) =>
  JSON.stringify(groups.map(({ name }) => [typeof row.get(name), String(row.get(name))]))

const groupRows = (groups: readonly Field[], rows: readonly Row[]): readonly (readonly Row[])[] => {
  if (groups.length === 0) return [rows]
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const key = keyOf(groups, row)
    found.set(key, [...(found.get(key) ?? []), row])
  }
  return [...found.values()]
}

const readOutput = (fields: readonly Field[], name: string, sent: AggregateFunction): Output => {
  const [call, fieldName] = Object.entries(sent)[0] as [FunctionName, unknown]
  if (call === 'count') return { name, call, field: undefined }
  const field = fields.find((candidate) => candidate.name === fieldName) ?? invalid()
  if ((call === 'sum' || call === 'avg') && !isNumeric(field)) invalid()
  return { name, call, field }
}

interface Aggregation {
  readonly groups: readonly Field[]
  readonly outputs: readonly Output[]
  /** The groups break ties: no two rows have the same ones. */
  readonly order: readonly OrderItem[]
}

const readAggregation = (fields: readonly Field[], { groupBy, compute, order }: Aggregate): Aggregation => {
  const groups = groupBy.map((name) => fields.find((field) => field.name === name) ?? invalid())
  if (new Set(groupBy).size < groupBy.length) invalid()
  const outputs = Object.entries(compute).map(([name, sent]) => readOutput(fields, name, sent))
  const names = [...groupBy, ...Object.keys(compute)]
  if (order.some(({ name }) => !names.includes(name))) invalid()
  return { groups, outputs, order: [...order, ...groupBy.map((name) => ({ name, isDescending: false }))] }
}

/** The records of a group, and the values of its row. */
interface Group {
  readonly rows: readonly Row[]
  readonly values: ReadonlyMap<string, Stored>
}

const computeGroup =
  ({ groups, outputs }: Aggregation) =>
  (rows: readonly Row[]): Group => {
    const keys = groups.map(({ name }): [string, Stored] => [name, rows[0]?.get(name) ?? null])
    const computed = outputs.map((output): [string, Stored] => [
      output.name,
      functions[output.call](valuesOf(output, rows), rows.length)
    ])
    return { rows, values: new Map([...keys, ...computed]) }
  }

const showGroup = ({ groups, outputs }: Aggregation, { rows, values }: Group, returned: Body | undefined) => {
  const shown = (name: string) => values.get(name) ?? null
  return Object.fromEntries([
    ...groups.map(({ name, jsonType }) => [name, toJson(jsonType, shown(name))]),
    ...outputs.map((output) => [output.name, showOutput(output, rows, shown(output.name), returned?.[output.name])])
  ])
}

/** `returned` is the data of the response. The rules read only inexact values from it, and whether a sum has failed. */
export const aggregateRecords = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  request: Aggregate,
  returned: Body | undefined
) => {
  const { filter, q = '', size } = request
  const rows = selectRows(model, table, viewer, { filter, q, order: [] })
  const aggregation = readAggregation(visibleFields(table, viewer), request)
  const groups = groupRows(aggregation.groups, rows).map(computeGroup(aggregation))
  const mayFail = groups.some((group) => aggregation.outputs.some((output) => mayOverflow(output, group.rows)))
  if (returned === undefined && mayFail) refuse(409, 'AGGREGATE_OVERFLOW')
  const compareRows = comparison(aggregation.order)
  const sorted = groups.toSorted((a, b) => compareRows(a.values, b.values)).slice(0, size)
  const returnedRows = (returned?.rows ?? []) as readonly Body[]
  return { rows: sorted.map((group, index) => showGroup(aggregation, group, returnedRows[index])) }
}

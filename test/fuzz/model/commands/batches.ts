import fc from 'fast-check'
import type { Action } from '../../../../schemas/token-action.ts'
import type { PlainField as Field } from '../../../../services/model/table.ts'
import { type Access, type Operation, runBatch } from '../batches.ts'
import { command, pick, type Returned } from '../harness.ts'
import { allow, assertMay, findRegistered, type Model, mayDo, refuse, type Token } from '../model.ts'
import type { Body } from '../records.ts'
import { isNumeric, toStored } from '../values.ts'
import { selector, sometimes, value } from './arbitraries.ts'
import { type FilterInput, filterInput, toFilter } from './filters.ts'
import { ANY_VALUE, keyAt, newBody, toBody } from './records.ts'
import { nameOf } from './tables.ts'
import { findTarget, type TargetTable } from './targets.ts'
import { toUpsert, type UpsertInput, upsertInput } from './upserts.ts'

const kinds = ['create', 'ignore', 'upsert', 'update', 'delete', 'incr', 'updateAll', 'deleteAll'] as const
type Kind = (typeof kinds)[number]

interface OperationInput extends UpsertInput {
  readonly kind: Kind
  readonly at: number
  readonly casing: number
  readonly field: number
  readonly count: unknown
  readonly filter: FilterInput
  readonly maxAffected: number
  readonly source: number | null
  readonly extra: Partial<Operation> | null
}

/** Values of any type, and tables that do not exist, are rarer than elsewhere: one of them fails the batch. */
const operationInput = fc.record<OperationInput>({
  ...upsertInput,
  entries: fc.array(fc.record({ at: selector, value, isUnchecked: fc.nat(99).map((n) => n === 99) }), { maxLength: 4 }),
  kind: fc.constantFrom('create', 'create', 'upsert', 'update', 'incr', ...kinds),
  at: fc.oneof({ weight: 9, arbitrary: fc.nat(28) }, { weight: 1, arbitrary: selector }),
  casing: selector,
  field: selector,
  count: fc.option(value),
  filter: filterInput,
  maxAffected: fc.constantFrom(1, 3, 100),
  source: sometimes(selector, 2),
  extra: sometimes(fc.constantFrom({ pk: '1' }, { values: {} }, { maxAffected: 1 }, { on: ['id'] }), 100)
})

/** The record that an earlier operation returns. */
interface Source {
  readonly position: number
  readonly fields: readonly Field[]
}

/** Returns a reference to a field that fits. SQLite would generate random keys after a value near the largest integer. */
const referenceFor = (sources: readonly Source[], target: Field | undefined, n: number) => {
  const source = pick(sources, n)
  const isAny = n % 20 === 19
  const fields = source?.fields.filter(
    ({ jsonType, isPrimary }) => isAny || (jsonType === target?.jsonType && (isPrimary || !target.isPrimary))
  )
  const field = pick(fields ?? [], n >> 3)
  if (!source || !field || (target?.isPrimary && !field.isPrimary)) return undefined
  return { $result: source.position + (n % 40 === 39 ? 1 : 0), field: field.name }
}

const withReference = (
  { fields }: TargetTable,
  body: Body,
  sources: readonly Source[],
  { source, field }: OperationInput,
  isUpdate: boolean
): Body => {
  if (source === null) return body
  const target = pick(
    fields.filter(({ isReadonly, isPrimary }) => !isReadonly && !(isUpdate && isPrimary)),
    field
  )
  const reference = referenceFor(sources, target, source)
  return target && reference ? { ...body, [target.name]: reference } : body
}

/** Returns the key of a stored record, or a reference to one. */
const keyFor = (targetTable: TargetTable, sources: readonly Source[], { row, source, field }: OperationInput) => {
  const [key] = targetTable.fields.filter(({ isPrimary }) => isPrimary)
  const reference = source === null || field % 2 === 0 ? undefined : referenceFor(sources, key, source)
  return reference ?? keyAt(targetTable, row)
}

/** Removes a key that SQLite generates, in two of three cases: a batch with a key that exists fails. */
const withoutKey = ({ table }: TargetTable, body: Body, seed: number): Body =>
  table.isRowidKey && seed % 3 > 0
    ? Object.fromEntries(Object.entries(body).filter(([name]) => !table.key.includes(name)))
    : body

/** Adds a value to an empty body, in nine of ten cases: an update without one fails. */
export const withAnyValue = ({ fields }: TargetTable, body: Body, seed: number): Body => {
  const field = pick(
    fields.filter(({ isPrimary, isReadonly }) => !isPrimary && !isReadonly),
    seed
  )
  if (!field || seed % 10 === 9 || Object.keys(body).length > 0) return body
  return { [field.name]: pick(ANY_VALUE[field.jsonType], seed >> 2) }
}

const increment = ({ fields }: TargetTable, { field: at, count }: OperationInput) => {
  const numbers = fields.filter((field) => isNumeric(field) && !field.isPrimary && !field.isReadonly)
  const field = pick(at % 12 === 11 ? fields : numbers, at)
  const fitting = field && toStored(field.jsonType === 'number' ? 'number' : 'integer', count)
  return { field: field?.name ?? 'nothing', ...(fitting != null && { count: count as number | string }) }
}

const makers: Record<
  Kind,
  (targetTable: TargetTable, input: OperationInput, sources: readonly Source[]) => Omit<Operation, 'table'>
> = {
  create: (targetTable, input, sources) => {
    const body = withoutKey(targetTable, newBody(targetTable, input.entries, input.seed), input.seed)
    return { op: 'create', values: withReference(targetTable, body, sources, input, false) }
  },
  ignore: (targetTable, input, sources) => ({
    ...makers.create(targetTable, input, sources),
    onConflict: 'ignore'
  }),
  upsert: (targetTable, input, sources) => {
    const { on, body } = toUpsert(targetTable, input)
    const values = withReference(targetTable, body, sources, input, false)
    return { op: 'upsert', values, ...(on !== targetTable.table.key && { on }) }
  },
  update: (targetTable, input, sources) => {
    const body = toBody(targetTable, input.entries, ({ isPrimary }) => !isPrimary)
    const values = withReference(targetTable, withAnyValue(targetTable, body, input.seed), sources, input, true)
    return { op: 'update', pk: keyFor(targetTable, sources, input), values }
  },
  delete: (targetTable, input, sources) => ({ op: 'delete', pk: keyFor(targetTable, sources, input) }),
  incr: (targetTable, input, sources) => ({
    op: 'incr',
    pk: keyFor(targetTable, sources, input),
    ...increment(targetTable, input)
  }),
  updateAll: (targetTable, input, sources) => {
    const { pk: _, ...update } = makers.update(targetTable, input, sources)
    const { filter, maxAffected } = input
    return { ...update, filter: toFilter(targetTable, filter), maxAffected }
  },
  deleteAll: (targetTable, { filter, maxAffected }) => ({
    op: 'delete',
    filter: toFilter(targetTable, filter),
    maxAffected
  })
}

const toOperations = (model: Model, byToken: boolean, inputs: readonly OperationInput[]) => {
  const sources: Source[] = []
  return inputs.map((input, position): Operation => {
    const { kind, at, casing, extra } = input
    const table = nameOf(model, { at, casing })
    const targetTable = findTarget(model, { by: 0, byToken, at, casing })
    if (!targetTable) return { op: 'delete', table, pk: '1' }
    const operation = { ...makers[kind](targetTable, input, sources), table, ...extra }
    if (kind === 'create' || kind === 'upsert') sources.push({ position, fields: targetTable.fields })
    return operation
  })
}

const asAdministrator = (model: Model): Access => ({
  viewer: 'administrator',
  open: (name) => findRegistered(model, name) ?? refuse(404, 'TABLE_NOT_FOUND'),
  mayRead: () => true
})

const withToken = (model: Model, token: Token): Access => ({
  viewer: 'token',
  open: (name, needs) => {
    for (const need of needs) assertMay(token, need, name)
    return allow(model, token, needs[0] ?? 'read', name)
  },
  mayRead: ({ name }) => mayDo(token, 'read', name)
})

const batch = command(
  16,
  fc.record({
    by: selector,
    byToken: fc.boolean(),
    actions: sometimes(fc.subarray<Action>(['read', 'create', 'update', 'delete']), 3),
    inputs: fc.array(operationInput, { minLength: 1, maxLength: 6 })
  }),
  ({ model, asAdmin, asToken, asNewToken }, { by, byToken, actions, inputs }) => {
    const operations = toOperations(model, byToken, inputs)
    const payload = { operations }
    if (!byToken) {
      return asAdmin(by, { method: 'POST', url: '/admin/batch', payload }, (_, returned) =>
        runBatch(model, asAdministrator(model), operations, returned)
      )
    }
    const call = { method: 'POST', url: '/data/_batch', payload } as const
    const rule = (token: Token, returned: Returned) => runBatch(model, withToken(model, token), operations, returned)
    if (actions !== null) return asNewToken(actions, call, rule)
    return asToken([by, 'update', operations[0]?.table ?? ''], call, rule)
  }
)

export const batchCommands = { batch }

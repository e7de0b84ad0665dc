import fc from 'fast-check'
import type { PlainField as Field } from '../../../../services/model/table.ts'
import { parseCsv } from '../../../csv.ts'
import { command, type Harness, pick, type Returned } from '../harness.ts'
import {
  allow,
  assertMay,
  findRegistered,
  findStored,
  invalid,
  type Model,
  type Need,
  type Registered,
  tableOf,
  type Viewer,
  visibleFields
} from '../model.ts'
import {
  type Body,
  createRecord,
  deleteRecord,
  exportRecords,
  formatKey,
  increment,
  isRequired,
  listRecords,
  type OrderItem,
  type Query,
  readRecord,
  updateRecord
} from '../records.ts'
import type { Call, TestResponse } from '../service.ts'
import { keyOf, type Row } from '../stored-tables.ts'
import { normalizeCell, toJson, toStored } from '../values.ts'
import { rarely, selector, sometimes, text, value } from './arbitraries.ts'
import { idOf, nameOf } from './tables.ts'

/** Selects the caller and the table. */
const target = { by: selector, byToken: fc.boolean(), at: selector, casing: selector }
interface Target {
  readonly by: number
  readonly byToken: boolean
  readonly at: number
  readonly casing: number
}

interface Request {
  readonly need: Need
  readonly method: Call['method']
  /** Appended to the URL of the records. */
  readonly pk?: string
  readonly query?: string
  readonly payload?: object
  readonly isMalformed?: boolean
  readonly returnsRecord?: boolean
}

type RecordRule = (table: Registered, viewer: Viewer, returned: Returned) => unknown

const RETURN = '?return=record'

const urlOf = (base: string, { pk, query = '', returnsRecord = false }: Request) =>
  pk === undefined ? `${base}${query}` : `${base}/${encodeURIComponent(pk)}${returnsRecord ? RETURN : ''}`

const callOf = (base: string, request: Request): Call => ({
  method: request.method,
  url: urlOf(base, request),
  ...(request.payload && { payload: request.payload })
})

/** Sends a request as an administrator or as a token. They use different URLs and see different fields. */
const sendAs = (harness: Harness, target: Target, request: Request, rule: RecordRule) => {
  const { model, asAdmin, asToken } = harness
  const { need, isMalformed = false, returnsRecord = false } = request
  if (!target.byToken) {
    const id = idOf(model, target.at)
    return asAdmin(target.by, callOf(`/admin/tables/${id}/data`, request), (_, returned) =>
      isMalformed ? invalid() : rule(tableOf(model, id), 'administrator', returned)
    )
  }
  const name = nameOf(model, target)
  const base = need === 'read' && request.pk === undefined ? `/data/${name}` : `/data/${name}/records`
  return asToken([target.by, need, name], callOf(base, request), (token, returned) => {
    // The right to a write is checked before its body is read.
    if (need !== 'read') assertMay(token, need, name)
    if (returnsRecord) assertMay(token, 'read', name)
    return isMalformed ? invalid() : rule(allow(model, token, need, name), 'token', returned)
  })
}

/** Returns the selected table, for which a request is generated, or undefined where none exists. */
const findTarget = (model: Model, { at, byToken, casing }: Target) => {
  const name = nameOf(model, { at, casing })
  const table = findRegistered(model, name)
  const viewer: Viewer = byToken ? 'token' : 'administrator'
  return table && { table, stored: findStored(model, name), fields: visibleFields(table, viewer) }
}
type TargetTable = NonNullable<ReturnType<typeof findTarget>>

const entry = fc.record({ at: selector, value, isUnchecked: rarely })
type Entry = typeof entry extends fc.Arbitrary<infer T> ? T : never

const MAX_KEY = 2n ** 60n

/** After the largest 64-bit key, SQLite generates random keys: sequences stay far below it. */
const isTooLargeKey = (field: Field, value: unknown) => {
  const stored = field.isPrimary ? toStored(field.jsonType, value) : null
  return typeof stored === 'bigint' && stored > MAX_KEY
}

const fits = (field: Field, value: unknown) =>
  !field.isReadonly && !isTooLargeKey(field, value) && (value === null || toStored(field.jsonType, value) !== undefined)

/** Puts each value into a field of its type, or into any field if `isUnchecked`. */
const toBody = (
  { table, fields }: TargetTable,
  entries: readonly Entry[],
  isAllowed: (field: Field) => boolean
): Body => {
  const body: Body = {}
  for (const { at, value, isUnchecked } of entries) {
    const fitting = fields.filter((field) => isAllowed(field) && fits(field, value))
    const field = isUnchecked ? pick([...table.fields, { name: 'nothing' }], at) : pick(fitting, at)
    if (field) body[field.name] = value
  }
  return body
}

const ANY_VALUE: Record<Field['jsonType'], readonly unknown[]> = {
  integer: [0, 1, 2, 3, 4, 5, 6, 7],
  number: [0.25, 1, 2.5, -1e300],
  string: ['', 'a', 'B', 'ä/,%', '7', '=1'],
  boolean: [true, false],
  object: [{}],
  array: [[]]
}

const newBody = (targetTable: TargetTable, entries: readonly Entry[], seed: number): Body => {
  const body = toBody(targetTable, entries, () => true)
  const isIncomplete = seed % 15 === 14
  for (const field of targetTable.fields) {
    const isMissing = isRequired(targetTable.table, field) && !field.isReadonly && !(field.name in body)
    if (isMissing && !isIncomplete) body[field.name] = pick(ANY_VALUE[field.jsonType], seed)
  }
  return body
}

const create = command(
  14,
  fc.record({ ...target, entries: fc.array(entry, { maxLength: 5 }), seed: selector }),
  (harness, { entries, seed, ...target }) => {
    const targetTable = findTarget(harness.model, target)
    const payload = targetTable ? newBody(targetTable, entries, seed) : {}
    return sendAs(harness, target, { need: 'create', method: 'POST', payload }, (table, viewer, returned) =>
      createRecord(harness.model, table, viewer, payload, returned)
    )
  }
)

/** Creates several records, so that tables have more than one page. */
const fill = command(
  5,
  fc.record({ ...target, seeds: fc.array(selector, { minLength: 3, maxLength: 9 }) }),
  async (harness, { seeds, ...target }) => {
    for (const seed of seeds) {
      const targetTable = findTarget(harness.model, target)
      const payload = targetTable
        ? newBody(targetTable, [{ at: seed, value: seed % 5, isUnchecked: false }], seed >> 2)
        : {}
      await sendAs(harness, target, { need: 'create', method: 'POST', payload }, (table, viewer, returned) =>
        createRecord(harness.model, table, viewer, payload, returned)
      )
    }
  }
)

const UNUSUAL_KEYS = ['01', '1.0', '+1', '0', 'x', '', '9223372036854775808', '1,a', '1,%', '1,a,b', '-0', '1e0']

const rowAt = (targetTable: TargetTable | undefined, row: number): Row | undefined =>
  row % 12 === 11 ? undefined : pick(targetTable?.stored?.rows ?? [], row)

const keyAt = (targetTable: TargetTable | undefined, at: number) => {
  const row = rowAt(targetTable, at)
  return row && targetTable?.stored ? formatKey(keyOf(targetTable.stored, row)) : String(pick(UNUSUAL_KEYS, at >> 3))
}

const read = command(5, fc.record({ ...target, row: selector }), (harness, { row, ...target }) => {
  const pk = keyAt(findTarget(harness.model, target), row)
  return sendAs(harness, target, { need: 'read', method: 'GET', pk }, (table, viewer) =>
    readRecord(harness.model, table, viewer, pk)
  )
})

/** Returns a body with the current value of one field, as from a client that sends back what it has read. */
const echoOf = (targetTable: TargetTable, row: number, at: number | null): Body => {
  const field = at === null ? undefined : pick(targetTable.fields, at)
  const known = rowAt(targetTable, row)
  return field && known ? { [field.name]: toJson(field.jsonType, known.get(field.name) ?? null) } : {}
}

const update = command(
  9,
  fc.record({
    ...target,
    row: selector,
    entries: fc.array(entry, { minLength: 1, maxLength: 4 }),
    echo: sometimes(selector, 3),
    returnsRecord: fc.boolean()
  }),
  (harness, { row, entries, echo, returnsRecord, ...target }) => {
    const targetTable = findTarget(harness.model, target)
    const pk = keyAt(targetTable, row)
    const payload = targetTable
      ? { ...echoOf(targetTable, row, echo), ...toBody(targetTable, entries, ({ isPrimary }) => !isPrimary) }
      : {}
    return sendAs(harness, target, { need: 'update', method: 'PUT', pk, payload, returnsRecord }, (table, viewer) =>
      updateRecord(harness.model, table, viewer, { pk, body: payload, returnsRecord })
    )
  }
)

const remove = command(
  9,
  fc.record({ ...target, row: selector, returnsRecord: fc.boolean() }),
  (harness, { row, returnsRecord, ...target }) => {
    const pk = keyAt(findTarget(harness.model, target), row)
    return sendAs(harness, target, { need: 'delete', method: 'DELETE', pk, returnsRecord }, (table, viewer) =>
      deleteRecord(harness.model, table, viewer, { pk, returnsRecord })
    )
  }
)

/** Returns the key as a number where that is exact and requested. */
const toSentKey = (pk: string, asNumber: boolean) =>
  asNumber && String(Number(pk)) === pk && Math.abs(Number(pk)) <= Number.MAX_SAFE_INTEGER ? Number(pk) : pk

const incr = command(
  5,
  fc.record({
    ...target,
    row: selector,
    field: selector,
    count: fc.option(value),
    asNumber: fc.boolean(),
    returnsRecord: fc.boolean()
  }),
  (harness, { row, field, count, asNumber, returnsRecord, ...target }) => {
    const { model, asToken } = harness
    const targetTable = findTarget(model, { ...target, byToken: true })
    const pk = toSentKey(keyAt(targetTable, row), asNumber)
    const numeric = targetTable?.fields.filter(({ jsonType }) => jsonType === 'integer' || jsonType === 'number')
    const known = pick(field % 4 === 0 ? [...(targetTable?.table.fields ?? [])] : (numeric ?? []), field >> 2)
    // A count of the wrong type is refused before the table is read. Other tests check that.
    const fitting = known && toStored(known.jsonType === 'number' ? 'number' : 'integer', count)
    const payload = { pk, field: known?.name ?? 'nothing', ...(fitting != null && { count: count as number | string }) }
    const name = nameOf(model, target)
    const url = `/data/${name}/incr${returnsRecord ? RETURN : ''}`
    return asToken([target.by, 'update', name], { method: 'POST', url, payload }, (token) => {
      assertMay(token, 'update', name)
      if (returnsRecord) assertMay(token, 'read', name)
      return increment(model, allow(model, token, 'update', name), payload, returnsRecord)
    })
  }
)

const orderItem = fc.record({ at: selector, isDescending: fc.boolean(), form: fc.nat(4) })
const query = fc.record({
  page: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2, nil: undefined }),
  size: fc.option(fc.integer({ min: 1, max: 9 }), { freq: 2, nil: undefined }),
  order: fc.array(orderItem, { maxLength: 3 }),
  q: fc.option(fc.oneof(text, fc.constantFrom('1', '-3', '0.5', '7.0', '9007199254740993', 'A', 'b')), {
    freq: 2,
    nil: undefined
  }),
  invalidPart: sometimes(fc.constantFrom('page=0', 'size=01', 'colour=red', 'order=&order=', 'page=1.0'), 20)
})
type QueryInput = typeof query extends fc.Arbitrary<infer T> ? T : never

/** Returns an item of `order` in one of its formats. */
const formatOrderItem = ({ name, isDescending }: OrderItem, form: number) => {
  const forms = isDescending
    ? [`-${name}`, `${name} desc`, `${name}:DESC`, `${name}.desc`, ` - ${name}`]
    : [name, `+${name}`, `${name} asc`, `${name}: Asc`, `${name},asc`]
  return String(pick(forms, form))
}

const toQuery = (targetTable: TargetTable | undefined, { order, page, size, q, invalidPart }: QueryInput) => {
  const fields = targetTable?.table.fields ?? []
  const items = order.map(({ at, isDescending, form }) => {
    const name = at % 20 === 19 ? 'nothing' : (pick(fields, at)?.name ?? 'nothing')
    return { item: { name, isDescending }, text: formatOrderItem({ name, isDescending }, form) }
  })
  const parameters = new URLSearchParams()
  if (page !== undefined) parameters.set('page', String(page))
  if (size !== undefined) parameters.set('size', String(size))
  if (items.length > 0) parameters.set('order', items.map((item) => item.text).join(','))
  if (q !== undefined) parameters.set('q', q)
  const parsed = { order: items.map(({ item }) => item), ...(page && { page }), ...(size && { size }), ...(q && { q }) }
  return {
    text: `?${[parameters.toString(), invalidPart].filter(Boolean).join('&')}`,
    isMalformed: invalidPart !== null,
    parsed
  }
}

const list = command(12, fc.record({ ...target, query }), (harness, { query, ...target }) => {
  const { text, isMalformed, parsed } = toQuery(findTarget(harness.model, target), query)
  return sendAs(harness, target, { need: 'read', method: 'GET', query: text, isMalformed }, (table, viewer) =>
    listRecords(harness.model, table, viewer, parsed)
  )
})

/** Returns the lines of an export, with doubles in the format of JavaScript. */
const readCsv =
  (fields: readonly Field[]) =>
  async ({ text }: TestResponse) => {
    const [header, ...rows] = await parseCsv(text)
    return [header, ...rows.map((row) => row.map((cell, index) => normalizeCell(fields[index] as Field, cell)))]
  }

interface Export {
  readonly by: number
  readonly at: number
  readonly text: string
  readonly isMalformed: boolean
  readonly parsed: Query
  readonly isEscaped: boolean
}

const exportCsv = ({ model, asAdmin }: Harness, { by, at, text, isMalformed, parsed, isEscaped }: Export) => {
  const id = idOf(model, at)
  const fields = model.registered.find((table) => table.id === id)?.fields ?? []
  const call = {
    method: 'GET',
    url: `/admin/tables/${id}/export${text}${isEscaped ? '&escape=formulas' : ''}`
  } as const
  const rule = () => (isMalformed ? invalid() : exportRecords(model, tableOf(model, id), parsed, isEscaped))
  return asAdmin(by, call, rule, readCsv(fields))
}

const exportOne = command(
  3,
  fc.record({ ...target, query, isEscaped: fc.boolean() }),
  (harness, { by, at, casing, query, isEscaped }) => {
    const parameters = toQuery(findTarget(harness.model, { by, at, casing, byToken: false }), query)
    return exportCsv(harness, { by, at, isEscaped, ...parameters })
  }
)

/** Reads every row of a table, page by page and as an export. */
export const readWholeTable = async (harness: Harness, at: number) => {
  const { model } = harness
  const target = { by: 0, byToken: false, at, casing: 2 }
  const rows = findTarget(model, target)?.stored?.rows.length ?? 0
  for (let page = 1; page <= rows / model.maxPageSize + 1; page++) {
    await sendAs(harness, target, { need: 'read', method: 'GET', query: `?page=${page}` }, (table, viewer) =>
      listRecords(model, table, viewer, { page, order: [] })
    )
  }
  await exportCsv(harness, { by: 0, at, text: '?', isMalformed: false, parsed: { order: [] }, isEscaped: true })
}

export const recordCommands = {
  createRecord: create,
  fillTable: fill,
  readRecord: read,
  updateRecord: update,
  deleteRecord: remove,
  increment: incr,
  listRecords: list,
  exportRecords: exportOne
}

import fc from 'fast-check'
import { parseCsv } from '../../../csv.ts'
import { command, type Harness, pick, type Read } from '../harness.ts'
import type { Cursor, Model } from '../model.ts'
import { type ExportOptions, exportRecords, listRecords, type OrderItem, type Query, queryRecords } from '../queries.ts'
import { normalizeCell } from '../values.ts'
import { rarely, selector, sometimes, text } from './arbitraries.ts'
import { filterInput, partOf, toFilter } from './filters.ts'
import { findTarget, sendAs, type Target, type TargetTable, target } from './targets.ts'

export const search = fc.option(
  fc.oneof(text, fc.constantFrom('1', '-3', '0.5', '7.0', '9007199254740993', 'A', 'b')),
  {
    freq: 2,
    nil: undefined
  }
)

export const optionalFilter = fc.option(filterInput, { freq: 2, nil: undefined })

const orderItem = fc.record({ at: selector, isDescending: fc.boolean(), form: fc.nat(4) })
/** Above the maximum, too. */
const pageSize = fc.constantFrom(1, 2, 2, 3, 4, 5, 9)

const query = fc.record({
  page: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2, nil: undefined }),
  size: fc.option(pageSize, { freq: 2, nil: undefined }),
  order: fc.array(orderItem, { maxLength: 3 }),
  q: search,
  part: fc.option(selector, { freq: 1 }),
  filter: optionalFilter,
  fields: fc.option(fc.array(selector, { minLength: 1, maxLength: 3 }), { freq: 1, nil: undefined }),
  total: fc.option(fc.boolean(), { freq: 1, nil: undefined }),
  beginsCursor: fc.boolean(),
  keepsPage: rarely,
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

const nameAt = (targetTable: TargetTable | undefined, at: number) =>
  at % 20 === 19 ? 'nothing' : (pick(targetTable?.table.fields ?? [], at)?.name ?? 'nothing')

const MAX_ORDER = 8

/**
 * Returns the items of an order, or none. Records of a view without a key that are equal in the order come in any order,
 * unless they are equal in all fields.
 */
const withoutTies = (targetTable: TargetTable | undefined, items: readonly OrderItem[]): readonly OrderItem[] => {
  if (!targetTable || targetTable.table.key.length > 0 || items.length === 0) return items
  const others = targetTable.fields.filter((field) => items.every(({ name }) => name !== field.name))
  const all = [...items, ...others.map(({ name }) => ({ name, isDescending: false }))]
  return all.length > MAX_ORDER ? [] : all
}

/** Returns a part of a stored text. */
const storedPart = (targetTable: TargetTable | undefined, n: number) => {
  const values = [...(pick(targetTable?.stored?.rows ?? [], n)?.values() ?? [])]
  return partOf(
    String(
      pick(
        values.filter((value) => typeof value === 'string'),
        n
      ) ?? ''
    ),
    n >> 2
  )
}

/** Returns the query that the service should read from the request, which has its order as text. */
const toQuery = (targetTable: TargetTable | undefined, input: QueryInput) => {
  const { page, size, order, part, filter, fields, total } = input
  const q = part === null ? input.q : storedPart(targetTable, part)
  const chosen = order.map(({ at, isDescending }) => ({ name: nameAt(targetTable, at), isDescending }))
  const items = withoutTies(targetTable, chosen)
  const parsed: Query = {
    order: items,
    ...(page && { page }),
    ...(size && { size }),
    ...(q && { q }),
    ...(filter && targetTable && { filter: toFilter(targetTable, filter) }),
    ...(fields && { fields: fields.map((at) => nameAt(targetTable, at)) }),
    ...(total !== undefined && { total })
  }
  return { parsed, order: items.map((item, index) => formatOrderItem(item, order[index]?.form ?? 0)).join(',') }
}

type SentQuery = Omit<Query, 'order'> & { readonly order: string }

const toBody = ({ order, ...query }: SentQuery) => ({ ...query, ...(order !== '' && { order }) })

const toParameter = ([name, value]: [string, unknown]): [string, string] => {
  if (Array.isArray(value)) return [name, value.join(',')]
  return [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]
}

const toParameters = (query: SentQuery, invalidPart: string | null) => {
  const parameters = new URLSearchParams(Object.entries(toBody(query)).map(toParameter))
  return `?${[parameters.toString(), invalidPart].filter(Boolean).join('&')}`
}

/** A query as the service should read it, and its order as text. */
interface Sent {
  readonly parsed: Query
  readonly order: string
  readonly invalidPart?: string | null
}

const sendList = (harness: Harness, target: Target, { parsed, order, invalidPart = null }: Sent) => {
  const query = toParameters({ ...parsed, order }, invalidPart)
  const request = { need: 'read', method: 'GET', query, isMalformed: invalidPart !== null } as const
  return sendAs(harness, target, request, (table, viewer, returned) =>
    listRecords(harness.model, table, viewer, parsed, returned)
  )
}

const sendQuery = (harness: Harness, target: Target, { parsed, order }: Sent) => {
  const payload = toBody({ ...parsed, order })
  const request = { need: 'read', method: 'POST', route: 'query', payload } as const
  return sendAs(harness, target, request, (table, viewer, returned) =>
    queryRecords(harness.model, table, viewer, parsed, returned)
  )
}

/** Adds the cursor of the first page, which must not come together with a page. */
const begin = (parsed: Query, { beginsCursor, keepsPage }: QueryInput): Query => {
  if (!beginsCursor) return parsed
  const { page, ...rest } = parsed
  return { ...(keepsPage && page ? parsed : rest), cursor: '' }
}

const list = command(12, fc.record({ ...target, query }), (harness, { query, ...target }) => {
  const { parsed, order } = toQuery(findTarget(harness.model, target), query)
  return sendList(harness, target, { parsed: begin(parsed, query), order, invalidPart: query.invalidPart })
})

const find = command(10, fc.record({ ...target, query }), (harness, { query, ...target }) => {
  const { parsed, order } = toQuery(findTarget(harness.model, target), query)
  // A body has no page.
  const { page: _, ...rest } = parsed
  return sendQuery(harness, target, { parsed: begin(rest, query), order })
})

/** How the next request differs from the one that returned the cursor. */
const deviations = ['order', 'filter', 'cursor', 'table', 'fields'] as const
type Deviation = (typeof deviations)[number] | null

const reversed = ({ query: { order } }: Cursor) =>
  order.map((item, index) => (index === 0 ? { ...item, isDescending: !item.isDescending } : item))

const deviate = (model: Model, cursor: Cursor, deviation: Deviation): Query => {
  const { fields: _, ...query } = { ...cursor.query, cursor: cursor.text }
  const key = model.registered.find(({ id }) => id === cursor.tableId)?.key[0] ?? 'nothing'
  if (deviation === 'order') {
    return { ...query, order: query.order.length > 0 ? reversed(cursor) : [{ name: key, isDescending: true }] }
  }
  if (deviation === 'filter') return { ...query, filter: { where: { [key]: { isNull: false } }, none: [] } }
  if (deviation === 'cursor') return { ...query, cursor: `${cursor.text.slice(0, -4)}AAAA` }
  return deviation === 'fields' ? query : { ...query, ...(cursor.query.fields && { fields: cursor.query.fields }) }
}

const RECENT = 4

/** Reads the page after one of the latest pages. Requests in between may have changed the table, its fields or its rows. */
const readNext = command(
  14,
  fc.record({
    ...target,
    cursor: fc.nat(RECENT - 1),
    size: fc.option(pageSize, { nil: undefined }),
    deviation: sometimes(fc.constantFrom(...deviations), 3),
    isList: fc.boolean()
  }),
  async (harness, { cursor: cursorAt, size, deviation, isList, ...target }) => {
    const { model } = harness
    const cursor = pick(model.cursors.slice(-RECENT), cursorAt)
    if (!cursor) return
    const { size: _, ...rest } = deviate(model, cursor, deviation)
    const parsed = { ...rest, ...(size && { size }) }
    const order = parsed.order.map((item) => formatOrderItem(item, 0)).join(',')
    const at = model.registered.findIndex(({ id }) => id === cursor.tableId)
    const chosen = deviation === 'table' || at === -1 ? target : { ...target, at }
    await (isList ? sendList : sendQuery)(harness, chosen, { parsed, order })
  }
)

/** Returns the lines of an export, with doubles in the format of JavaScript. */
const readCsv =
  (targetTable: TargetTable | undefined): Read =>
  async ({ text }) => {
    const [header = [], ...rows] = await parseCsv(text)
    const fields = header.map((name) => targetTable?.table.fields.find((field) => field.name === name))
    const normalize = (cell: string, index: number) => {
      const field = fields[index]
      return field ? normalizeCell(field, cell) : cell
    }
    return [header, ...rows.map((row) => row.map(normalize))]
  }

const readNdjson: Read = ({ text }) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

const optionParameters = ({ format, isEscaped }: ExportOptions) =>
  `${format === 'csv' ? '' : '&format=ndjson'}${isEscaped ? '&escape=formulas' : ''}`

const sendExport = (
  harness: Harness,
  target: Target,
  { parsed, order, invalidPart = null }: Sent,
  options: ExportOptions
) => {
  const query = `${toParameters({ ...parsed, order }, invalidPart)}${optionParameters(options)}`
  const request = { need: 'read', method: 'GET', route: 'export', query, isMalformed: invalidPart !== null } as const
  const read = options.format === 'csv' ? readCsv(findTarget(harness.model, target)) : readNdjson
  return sendAs(
    harness,
    target,
    request,
    (table, viewer) => exportRecords(harness.model, table, viewer, { ...parsed, ...options }),
    read
  )
}

const exportOne = command(
  4,
  fc.record({
    ...target,
    query,
    format: fc.constantFrom<ExportOptions['format']>('csv', 'csv', 'ndjson'),
    isEscaped: fc.boolean()
  }),
  (harness, { query, format, isEscaped, ...target }) => {
    const { parsed, order } = toQuery(findTarget(harness.model, target), query)
    const { total: _, ...rest } = parsed
    const sent = { parsed: rest, order, invalidPart: query.invalidPart }
    return sendExport(harness, target, sent, {
      format,
      isEscaped: isEscaped && (format === 'csv' || query.beginsCursor)
    })
  }
)

/** Reads every row of a table, page by page and as an export. */
export const readWholeTable = async (harness: Harness, at: number) => {
  const { model } = harness
  const target = { by: 0, byToken: false, at, casing: 2 }
  const rows = findTarget(model, target)?.stored?.rows.length ?? 0
  for (let page = 1; page <= rows / model.maxPageSize + 1; page++) {
    await sendList(harness, target, { parsed: { page, order: [] }, order: '' })
  }
  await sendExport(harness, target, { parsed: { order: [] }, order: '' }, { format: 'csv', isEscaped: true })
}

export const queryCommands = {
  listRecords: list,
  queryRecords: find,
  readNextPage: readNext,
  exportRecords: exportOne
}

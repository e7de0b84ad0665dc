import fc from 'fast-check'
import type { Field } from '../../../../schemas/table.ts'
import { parseCsv } from '../../../csv.ts'
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
  increment,
  isRequired,
  listRecords,
  type OrderItem,
  type Query,
  readRecord,
  spellKey,
  updateRecord
} from '../records.ts'
import type { Call, TestResponse } from '../service.ts'
import { keyOf, type Row } from '../stored-tables.ts'
import { normalCell, toSpoken, toStored } from '../values.ts'
import { command, type Learned, pick, type World } from '../world.ts'
import { rarely, seldom, text, value, which } from './choices.ts'
import { idOf, nameOf } from './tables.ts'

/** Who asks, and for which table. */
const target = { by: which, byToken: fc.boolean(), at: which, spelling: which }
interface Target {
  readonly by: number
  readonly byToken: boolean
  readonly at: number
  readonly spelling: number
}

interface Request {
  readonly need: Need
  readonly method: Call['method']
  /** Behind the address of the table's records. */
  readonly pk?: string
  readonly query?: string
  readonly payload?: object
  readonly isMalformed?: boolean
}

type RecordRule = (table: Registered, viewer: Viewer, learned: Learned) => unknown

const urlOf = (base: string, { pk, query = '' }: Request) =>
  pk === undefined ? `${base}${query}` : `${base}/${encodeURIComponent(pk)}`

const callOf = (base: string, request: Request): Call => ({
  method: request.method,
  url: urlOf(base, request),
  ...(request.payload && { payload: request.payload })
})

/** The same request by an administrator or by a token, which see different tables. */
const ask = (world: World, target: Target, request: Request, rule: RecordRule) => {
  const { model, asAdmin, asToken } = world
  const { need, isMalformed = false } = request
  if (!target.byToken) {
    const id = idOf(model, target.at)
    return asAdmin(target.by, callOf(`/admin/tables/${id}/data`, request), (_, learned) =>
      isMalformed ? invalid() : rule(tableOf(model, id), 'administrator', learned)
    )
  }
  const name = nameOf(model, target)
  const base = need === 'read' && request.pk === undefined ? `/data/${name}` : `/data/${name}/records`
  return asToken([target.by, need, name], callOf(base, request), (token, learned) => {
    // A write without the right to it is refused before its body is read.
    if (need !== 'read') assertMay(token, need, name)
    return isMalformed ? invalid() : rule(allow(model, token, need, name), 'token', learned)
  })
}

/** The table that the request will be about, to make it fit; undefined where there is none. */
const foresee = (model: Model, { at, byToken, spelling }: Target) => {
  const name = nameOf(model, { at, spelling })
  const table = findRegistered(model, name)
  const viewer: Viewer = byToken ? 'token' : 'administrator'
  return table && { table, stored: findStored(model, name), fields: visibleFields(table, viewer) }
}
type Foreseen = NonNullable<ReturnType<typeof foresee>>

const entry = fc.record({ at: which, value, isOdd: rarely })
type Entry = typeof entry extends fc.Arbitrary<infer T> ? T : never

const LARGEST_KEY = 2n ** 60n

/** Behind the largest key, SQLite picks others by chance. */
const isFarKey = (field: Field, value: unknown) => {
  const stored = field.isPrimary ? toStored(field.jsonType, value) : null
  return typeof stored === 'bigint' && stored > LARGEST_KEY
}

const fits = (field: Field, value: unknown) =>
  !field.isReadonly && !isFarKey(field, value) && (value === null || toStored(field.jsonType, value) !== undefined)

/** Puts each value into a field that it fits; an odd one anywhere. */
const toBody = ({ table, fields }: Foreseen, entries: readonly Entry[], isFree: (field: Field) => boolean): Body => {
  const body: Body = {}
  for (const { at, value, isOdd } of entries) {
    const fitting = fields.filter((field) => isFree(field) && fits(field, value))
    const field = isOdd ? pick([...table.fields, { name: 'nothing' }], at) : pick(fitting, at)
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

const newBody = (foreseen: Foreseen, entries: readonly Entry[], seed: number): Body => {
  const body = toBody(foreseen, entries, () => true)
  const isOdd = seed % 15 === 14
  for (const field of foreseen.fields) {
    const isMissing = isRequired(foreseen.table, field) && !field.isReadonly && !(field.name in body)
    if (isMissing && !isOdd) body[field.name] = pick(ANY_VALUE[field.jsonType], seed)
  }
  return body
}

const create = command(
  14,
  fc.record({ ...target, entries: fc.array(entry, { maxLength: 5 }), seed: which }),
  (world, { entries, seed, ...target }) => {
    const foreseen = foresee(world.model, target)
    const payload = foreseen ? newBody(foreseen, entries, seed) : {}
    return ask(world, target, { need: 'create', method: 'POST', payload }, (table, viewer, learned) =>
      createRecord(world.model, table, viewer, payload, learned)
    )
  }
)

/** Many records at once: there are pages only where there are rows. */
const fill = command(
  5,
  fc.record({ ...target, seeds: fc.array(which, { minLength: 3, maxLength: 9 }) }),
  async (world, { seeds, ...target }) => {
    for (const seed of seeds) {
      const foreseen = foresee(world.model, target)
      const payload = foreseen ? newBody(foreseen, [{ at: seed, value: seed % 5, isOdd: false }], seed >> 2) : {}
      await ask(world, target, { need: 'create', method: 'POST', payload }, (table, viewer, learned) =>
        createRecord(world.model, table, viewer, payload, learned)
      )
    }
  }
)

const ODD_KEYS = ['01', '1.0', '+1', '0', 'x', '', '9223372036854775808', '1,a', '1,%', '1,a,b', '-0', '1e0']

const rowAt = (foreseen: Foreseen | undefined, row: number): Row | undefined =>
  row % 12 === 11 ? undefined : pick(foreseen?.stored?.rows ?? [], row)

const keyAt = (foreseen: Foreseen | undefined, at: number) => {
  const row = rowAt(foreseen, at)
  return row && foreseen?.stored ? spellKey(keyOf(foreseen.stored, row)) : String(pick(ODD_KEYS, at >> 3))
}

const read = command(5, fc.record({ ...target, row: which }), (world, { row, ...target }) => {
  const pk = keyAt(foresee(world.model, target), row)
  return ask(world, target, { need: 'read', method: 'GET', pk }, (table, viewer) =>
    readRecord(world.model, table, viewer, pk)
  )
})

/** What a client sends that sends back what it has read. */
const echoOf = (foreseen: Foreseen, row: number, at: number | null): Body => {
  const field = at === null ? undefined : pick(foreseen.fields, at)
  const known = rowAt(foreseen, row)
  return field && known ? { [field.name]: toSpoken(field.jsonType, known.get(field.name) ?? null) } : {}
}

const update = command(
  9,
  fc.record({
    ...target,
    row: which,
    entries: fc.array(entry, { minLength: 1, maxLength: 4 }),
    echo: seldom(which, 3)
  }),
  (world, { row, entries, echo, ...target }) => {
    const foreseen = foresee(world.model, target)
    const pk = keyAt(foreseen, row)
    const payload = foreseen
      ? { ...echoOf(foreseen, row, echo), ...toBody(foreseen, entries, ({ isPrimary }) => !isPrimary) }
      : {}
    return ask(world, target, { need: 'update', method: 'PUT', pk, payload }, (table, viewer) =>
      updateRecord(world.model, table, viewer, [pk, payload])
    )
  }
)

const remove = command(9, fc.record({ ...target, row: which }), (world, { row, ...target }) => {
  const pk = keyAt(foresee(world.model, target), row)
  return ask(world, target, { need: 'delete', method: 'DELETE', pk }, (table) => deleteRecord(world.model, table, pk))
})

/** A key may be sent as a number where that is exact. */
const spokenKey = (pk: string, asNumber: boolean) =>
  asNumber && String(Number(pk)) === pk && Math.abs(Number(pk)) <= Number.MAX_SAFE_INTEGER ? Number(pk) : pk

const incr = command(
  5,
  fc.record({ ...target, row: which, field: which, count: fc.option(value), asNumber: fc.boolean() }),
  (world, { row, field, count, asNumber, ...target }) => {
    const { model, asToken } = world
    const foreseen = foresee(model, { ...target, byToken: true })
    const pk = spokenKey(keyAt(foreseen, row), asNumber)
    const numeric = foreseen?.fields.filter(({ jsonType }) => jsonType === 'integer' || jsonType === 'number')
    const known = pick(field % 4 === 0 ? [...(foreseen?.table.fields ?? [])] : (numeric ?? []), field >> 2)
    // Text of another form is refused before the table is looked at, and has its tests elsewhere.
    const fitting = known && toStored(known.jsonType === 'number' ? 'number' : 'integer', count)
    const payload = { pk, field: known?.name ?? 'nothing', ...(fitting != null && { count: count as number | string }) }
    const name = nameOf(model, target)
    return asToken([target.by, 'update', name], { method: 'POST', url: `/data/${name}/incr`, payload }, (token) =>
      increment(model, allow(model, token, 'update', name), payload)
    )
  }
)

const orderItem = fc.record({ at: which, isDescending: fc.boolean(), form: fc.nat(4) })
const query = fc.record({
  page: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2, nil: undefined }),
  size: fc.option(fc.integer({ min: 1, max: 9 }), { freq: 2, nil: undefined }),
  order: fc.array(orderItem, { maxLength: 3 }),
  q: fc.option(fc.oneof(text, fc.constantFrom('1', '-3', '0.5', '7.0', '9007199254740993', 'A', 'b')), {
    freq: 2,
    nil: undefined
  }),
  oddity: seldom(fc.constantFrom('page=0', 'size=01', 'colour=red', 'order=&order=', 'page=1.0'), 20)
})
type DrawnQuery = typeof query extends fc.Arbitrary<infer T> ? T : never

/** The ways to write a direction. */
const spellItem = ({ name, isDescending }: OrderItem, form: number) => {
  const forms = isDescending
    ? [`-${name}`, `${name} desc`, `${name}:DESC`, `${name}.desc`, ` - ${name}`]
    : [name, `+${name}`, `${name} asc`, `${name}: Asc`, `${name},asc`]
  return String(pick(forms, form))
}

const toQuery = (foreseen: Foreseen | undefined, { order, page, size, q, oddity }: DrawnQuery) => {
  const fields = foreseen?.table.fields ?? []
  const items = order.map(({ at, isDescending, form }) => {
    const name = at % 20 === 19 ? 'nothing' : (pick(fields, at)?.name ?? 'nothing')
    return { item: { name, isDescending }, text: spellItem({ name, isDescending }, form) }
  })
  const parameters = new URLSearchParams()
  if (page !== undefined) parameters.set('page', String(page))
  if (size !== undefined) parameters.set('size', String(size))
  if (items.length > 0) parameters.set('order', items.map((item) => item.text).join(','))
  if (q !== undefined) parameters.set('q', q)
  const meant = { order: items.map(({ item }) => item), ...(page && { page }), ...(size && { size }), ...(q && { q }) }
  return { text: `?${[parameters.toString(), oddity].filter(Boolean).join('&')}`, isMalformed: oddity !== null, meant }
}

const list = command(12, fc.record({ ...target, query }), (world, { query, ...target }) => {
  const { text, isMalformed, meant } = toQuery(foresee(world.model, target), query)
  return ask(world, target, { need: 'read', method: 'GET', query: text, isMalformed }, (table, viewer) =>
    listRecords(world.model, table, viewer, meant)
  )
})

/** An export's lines, its doubles spelled as in JavaScript. */
const readCsv =
  (fields: readonly Field[]) =>
  async ({ text }: TestResponse) => {
    const [header, ...rows] = await parseCsv(text)
    return [header, ...rows.map((row) => row.map((cell, index) => normalCell(fields[index] as Field, cell)))]
  }

interface Export {
  readonly by: number
  readonly at: number
  readonly text: string
  readonly isMalformed: boolean
  readonly meant: Query
  readonly guard: boolean
}

const exportCsv = ({ model, asAdmin }: World, { by, at, text, isMalformed, meant, guard }: Export) => {
  const id = idOf(model, at)
  const fields = model.registered.find((table) => table.id === id)?.fields ?? []
  const call = { method: 'GET', url: `/admin/tables/${id}/export${text}${guard ? '' : '&escape=false'}` } as const
  const rule = () => (isMalformed ? invalid() : exportRecords(model, tableOf(model, id), meant, guard))
  return asAdmin(by, call, rule, readCsv(fields))
}

const exportOne = command(
  3,
  fc.record({ ...target, query, guard: fc.boolean() }),
  (world, { by, at, spelling, query, guard }) => {
    const asked = toQuery(foresee(world.model, { by, at, spelling, byToken: false }), query)
    return exportCsv(world, { by, at, guard, ...asked })
  }
)

/** Every row of a table: page by page, and as an export. */
export const readWholeTable = async (world: World, at: number) => {
  const { model } = world
  const target = { by: 0, byToken: false, at, spelling: 2 }
  const rows = foresee(model, target)?.stored?.rows.length ?? 0
  for (let page = 1; page <= rows / model.maxPageSize + 1; page++) {
    await ask(world, target, { need: 'read', method: 'GET', query: `?page=${page}` }, (table, viewer) =>
      listRecords(model, table, viewer, { page, order: [] })
    )
  }
  await exportCsv(world, { by: 0, at, text: '?', isMalformed: false, meant: { order: [] }, guard: true })
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

import fc from 'fast-check'
import type { PlainField as Field } from '../../../../services/model/table.ts'
import { command, pick } from '../harness.ts'
import { allow, assertMay } from '../model.ts'
import {
  type Body,
  createRecord,
  deleteRecord,
  formatKey,
  increment,
  isRequired,
  readRecord,
  updateRecord
} from '../records.ts'
import { keyOf, type Row } from '../stored-tables.ts'
import { toJson, toStored } from '../values.ts'
import { rarely, selector, sometimes, value } from './arbitraries.ts'
import { nameOf } from './tables.ts'
import { findTarget, maySee, RETURN, sendAs, type TargetTable, target } from './targets.ts'

export const entry = fc.record({ at: selector, value, isUnchecked: rarely })
export type Entry = typeof entry extends fc.Arbitrary<infer T> ? T : never

const MAX_KEY = 2n ** 60n

/** After the largest 64-bit key, SQLite generates random keys: sequences stay far below it. */
const isTooLargeKey = (field: Field, value: unknown) => {
  const stored = field.isPrimary ? toStored(field.jsonType, value) : null
  return typeof stored === 'bigint' && stored > MAX_KEY
}

const fits = (field: Field, value: unknown) =>
  !field.isReadonly && !isTooLargeKey(field, value) && (value === null || toStored(field.jsonType, value) !== undefined)

/** Puts each value into a field of its type, or into any field if `isUnchecked`. */
export const toBody = (
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

export const ANY_VALUE: Record<Field['jsonType'], readonly unknown[]> = {
  integer: [0, 1, 2, 3, 4, 5, 6, 7],
  number: [0.25, 1, 2.5, -1e300],
  string: ['', 'a', 'B', 'ä/,%', '7', '=1'],
  boolean: [true, false],
  object: [{}],
  array: [[]]
}

export const newBody = (targetTable: TargetTable, entries: readonly Entry[], seed: number): Body => {
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

export const rowAt = (targetTable: TargetTable | undefined, row: number): Row | undefined =>
  row % 12 === 11 ? undefined : pick(targetTable?.stored?.rows ?? [], row)

export const keyAt = (targetTable: TargetTable | undefined, at: number) => {
  const row = rowAt(targetTable, at)
  return row && targetTable && targetTable.table.key.length > 0
    ? formatKey(keyOf(targetTable.table, row))
    : String(pick(UNUSUAL_KEYS, at >> 3))
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
    return sendAs(
      harness,
      target,
      { need: 'update', method: 'PUT', pk, payload, returnsRecord },
      (table, viewer, _, sent) =>
        updateRecord(harness.model, table, viewer, { pk, body: payload, returnsRecord, mayRead: maySee(sent, table) })
    )
  }
)

const remove = command(
  9,
  fc.record({ ...target, row: selector, returnsRecord: fc.boolean() }),
  (harness, { row, returnsRecord, ...target }) => {
    const pk = keyAt(findTarget(harness.model, target), row)
    return sendAs(harness, target, { need: 'delete', method: 'DELETE', pk, returnsRecord }, (table, viewer, _, sent) =>
      deleteRecord(harness.model, table, viewer, { pk, returnsRecord, mayRead: maySee(sent, table) })
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
      const table = allow(model, token, 'update', name)
      return increment(model, table, 'token', { ...payload, returnsRecord, mayRead: maySee({ token }, table) })
    })
  }
)

export const recordCommands = {
  createRecord: create,
  fillTable: fill,
  readRecord: read,
  updateRecord: update,
  deleteRecord: remove,
  increment: incr
}

import fc from 'fast-check'
import type { PlainField as Field } from '../../../../services/model/table.ts'
import { command, type Harness, pick } from '../harness.ts'
import { findRegistered, findStored, type Model } from '../model.ts'
import { counted } from '../outcomes.ts'
import { deleteRecord, formatKey, increment, updateRecord } from '../records.ts'
import { keyOf, type Row } from '../stored-tables.ts'
import { currentTag, hasTag, readTagged, type Subject, staleTags } from '../tags.ts'
import { isNumeric } from '../values.ts'
import { selector } from './arbitraries.ts'
import { withAnyValue } from './batches.ts'
import { entry, keyAt, toBody } from './records.ts'
import { nameOf } from './tables.ts'
import { findTarget, maySee, RETURN, type Sent, sendAs, type Target, target } from './targets.ts'

const UNKNOWN = '"unknown"'

/** The header of a condition, from the tag of the record as it is now and from an earlier tag. */
const headers = {
  current: (current: string) => current,
  listed: (current: string, stale: string) => `${UNKNOWN} , ${stale},${current}`,
  stale: (_: string, stale: string) => stale,
  staleListed: (_: string, stale: string) => `${stale}, ${UNKNOWN}`,
  weak: (current: string) => `W/${current}`,
  any: () => '*'
}

const condition = {
  row: selector,
  kind: fc.constantFrom(...(Object.keys(headers) as (keyof typeof headers)[]), 'current', 'stale'),
  stale: selector
} as const
interface Condition extends Target {
  readonly row: number
  readonly kind: keyof typeof headers
  readonly stale: number
}

const rowOf = (model: Model, { table, pk }: Subject): Row | undefined =>
  findStored(model, table.name)?.rows.find((row) => formatKey(keyOf(table, row)) === pk)

/** Reads the record without a condition, so that the model has its tag. */
const learn = (harness: Harness, target: Target, pk: string) =>
  sendAs(harness, target, { need: 'read', method: 'GET', pk }, (table, viewer, _, { response }) =>
    readTagged(harness.model, { table, viewer, pk }, undefined, response)
  )

/** Returns the key and the header of a request. The model has the tag of the record unless the read was refused. */
const prepare = async (harness: Harness, { row, kind, stale, ...target }: Condition) => {
  const { model } = harness
  const pk = keyAt(findTarget(model, target), row)
  await learn(harness, target, pk)
  const table = findRegistered(model, nameOf(model, target))
  const subject: Subject | undefined = table && { table, viewer: target.byToken ? 'token' : 'administrator', pk }
  const found = subject && rowOf(model, subject)
  const current = subject && found ? currentTag(model, subject, found) : undefined
  const earlier = subject ? pick(staleTags(model, subject, current), stale) : undefined
  return { pk, header: headers[kind](current ?? UNKNOWN, earlier ?? UNKNOWN) }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

const conditionOf = (model: Model, subject: Subject, { header }: Prepared, sent: Sent) => {
  const mayRead = maySee(sent, subject.table)
  return { hasTag: hasTag(model, subject, header, sent.response, mayRead), mayRead }
}

const read = command(4, fc.record({ ...target, ...condition }), async (harness, input) => {
  const { pk, header } = await prepare(harness, input)
  const request = { need: 'read', method: 'GET', pk, headers: { 'if-none-match': header } } as const
  const rule = counted('read', (...[table, viewer, , { response }]: Parameters<Parameters<typeof sendAs>[3]>) =>
    readTagged(harness.model, { table, viewer, pk }, header, response)
  )
  return sendAs(harness, input, request, rule)
})

const NOT_A_LIST = 'no list of tags'

/** Changes without a list of tags are refused. */
const changed = { ...condition, isMalformed: fc.nat(19).map((n) => n === 19), returnsRecord: fc.boolean() }

const ifMatch = ({ header }: Prepared, isMalformed: boolean) => ({
  headers: { 'if-match': isMalformed ? NOT_A_LIST : header },
  isMalformed
})

type Rule = Parameters<typeof sendAs>[3]

/** Sends the change twice: after the first one, its tag may be that of an earlier state. Then reads the new tag. */
const sendTwice = async (
  harness: Harness,
  target: Target,
  request: Parameters<typeof sendAs>[2],
  pk: string,
  rule: Rule
) => {
  await sendAs(harness, target, request, rule)
  await sendAs(harness, target, request, rule)
  await learn(harness, target, pk)
}

const update = command(
  5,
  fc.record({ ...target, ...changed, entries: fc.array(entry, { minLength: 1, maxLength: 3 }), seed: selector }),
  async (harness, { entries, seed, isMalformed, returnsRecord, ...input }) => {
    const { model } = harness
    const prepared = await prepare(harness, input)
    const { pk } = prepared
    const targetTable = findTarget(model, input)
    const body = targetTable ? toBody(targetTable, entries, ({ isPrimary }) => !isPrimary) : {}
    const payload = targetTable ? withAnyValue(targetTable, body, seed) : {}
    const conditional = ifMatch(prepared, isMalformed)
    const request = { need: 'update', method: 'PUT', pk, payload, returnsRecord, ...conditional } as const
    const rule: Rule = counted('update', (table, viewer, _, sent) => {
      const condition = conditionOf(model, { table, viewer, pk }, prepared, sent)
      return updateRecord(model, table, viewer, { pk, body: payload, returnsRecord, ...condition })
    })
    await sendTwice(harness, input, request, pk, rule)
  }
)

const remove = command(
  3,
  fc.record({ ...target, ...changed }),
  async (harness, { isMalformed, returnsRecord, ...input }) => {
    const { model } = harness
    const prepared = await prepare(harness, input)
    const { pk } = prepared
    const request = { need: 'delete', method: 'DELETE', pk, returnsRecord, ...ifMatch(prepared, isMalformed) } as const
    const rule: Rule = counted('delete', (table, viewer, _, sent) => {
      const condition = conditionOf(model, { table, viewer, pk }, prepared, sent)
      return deleteRecord(model, table, viewer, { pk, returnsRecord, ...condition })
    })
    await sendTwice(harness, input, request, pk, rule)
  }
)

const isCounter = (field: Field) => isNumeric(field) && !field.isPrimary && !field.isReadonly && !field.isHidden

/** Returns the position of a table with a number, in nine of ten cases. */
const numericTable = ({ registered }: Model, at: number) => {
  const numeric = registered.flatMap(({ fields }, index) => (fields.some(isCounter) ? [index] : []))
  return at % 10 === 9 ? at : (pick(numeric, at) ?? at)
}

const incr = command(
  4,
  fc.record({ ...target, ...changed, field: selector, count: fc.integer({ min: -3, max: 3 }) }),
  async (harness, { isMalformed, returnsRecord, field, count, ...others }) => {
    const { model } = harness
    const input = { ...others, byToken: true, at: numericTable(model, others.at) }
    const prepared = await prepare(harness, input)
    const { pk } = prepared
    const numbers = findTarget(model, input)?.fields.filter(isCounter)
    const payload = { pk, field: pick(numbers ?? [], field)?.name ?? 'nothing', count }
    const query = returnsRecord ? RETURN : ''
    const conditional = ifMatch(prepared, isMalformed)
    const request = {
      need: 'update',
      method: 'POST',
      route: 'incr',
      query,
      payload,
      returnsRecord,
      ...conditional
    } as const
    const rule: Rule = counted('increment', (table, viewer, _, sent) => {
      const condition = conditionOf(model, { table, viewer, pk }, prepared, sent)
      return increment(model, table, viewer, { ...payload, returnsRecord, ...condition })
    })
    await sendTwice(harness, input, request, pk, rule)
  }
)

export const tagCommands = {
  readWithTag: read,
  updateWithTag: update,
  deleteWithTag: remove,
  incrementWithTag: incr
}

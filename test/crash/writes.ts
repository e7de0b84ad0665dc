import { INDEXES, type Index, RECORDS, textOf } from './access.ts'
import type { KeyChange } from './ledger.ts'

/** A request that writes, and the changes that it makes: all of them or none. */
export interface Write {
  readonly method: string
  readonly path: string
  /** Text is a file. */
  readonly body?: object | string
  readonly headers?: Record<string, string>
  readonly changes: readonly KeyChange[]
}

const newRecord = (key: string, value: number) => ({ key, value, text: textOf(value), counter: 0 })

export const create = (key: string, value: number): Write => {
  const body = newRecord(key, value)
  return { method: 'POST', path: `/data/${RECORDS}/records`, body, changes: [{ key, change: { value } }] }
}

export const update = (key: string, value: number): Write => {
  const body = { value, text: textOf(value) }
  return { method: 'PUT', path: `/data/${RECORDS}/records/${key}`, body, changes: [{ key, change: { value } }] }
}

export const remove = (key: string): Write => {
  return { method: 'DELETE', path: `/data/${RECORDS}/records/${key}`, changes: [{ key, change: { value: null } }] }
}

export const increment = (key: string, add: number): Write => {
  const body = { pk: key, field: 'counter', count: add }
  return { method: 'POST', path: `/data/${RECORDS}/incr`, body, changes: [{ key, change: { add } }] }
}

export const batch = (operations: readonly object[], changes: readonly KeyChange[]): Write => ({
  method: 'POST',
  path: '/data/_batch',
  body: { operations },
  changes
})

/** Creates several records, or none. The first one is an upsert. */
export const createAll = (keys: readonly string[], next: () => number) => {
  const values = keys.map((key) => newRecord(key, next()))
  const operations = values.map((record, index) => ({
    op: index === 0 ? 'upsert' : 'create',
    table: RECORDS,
    values: record
  }))
  return batch(
    operations,
    values.map(({ key, value }) => ({ key, change: { value } }))
  )
}

export const removeAll = (keys: readonly string[]) =>
  batch(
    keys.map((pk) => ({ op: 'delete', table: RECORDS, pk })),
    keys.map((key) => ({ key, change: { value: null } }))
  )

/** Moves an amount from one record to another. The sum of their counters never changes. */
export const move = (from: string, to: string, amount: number) => {
  const steps = [
    { key: from, change: { add: -amount } },
    { key: to, change: { add: amount } }
  ]
  const operations = steps.map(({ key, change: { add } }) => ({
    ...{ op: 'incr', table: RECORDS },
    ...{ pk: key, field: 'counter', count: add }
  }))
  return batch(operations, steps)
}

export const createTable = (name: string): Write => {
  const body = { name, label: '', fields: [{ name: 'first', jsonType: 'string' }] }
  return { method: 'POST', path: '/data/_schema/tables', body, changes: [{ key: name, change: { value: 1 } }] }
}

export const addField = (table: string, name: string): Write => {
  const path = `/data/_schema/tables/${table}/fields`
  const body = { field: { name, jsonType: 'string' } }
  return { method: 'POST', path, body, changes: [{ key: `${table}.${name}`, change: { value: 1 } }] }
}

export const createIndex = ({ name, fields }: Index): Write => ({
  method: 'POST',
  path: INDEXES,
  body: { fields },
  changes: [{ key: name, change: { value: 1 } }]
})

export const deleteIndex = ({ name }: Index): Write => ({
  method: 'DELETE',
  path: `${INDEXES}/${name}`,
  changes: [{ key: name, change: { value: null } }]
})

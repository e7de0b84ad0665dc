import fc from 'fast-check'
import { command, type Harness, pick } from '../harness.ts'
import type { Administrator, Model } from '../model.ts'
import { findRegistered, isAwaited, isStored, remove } from '../model.ts'
import { addColumn, type Column, externalTable, findColumn, insert, keyOf, type StoredTable } from '../stored-tables.ts'
import { loseFacts } from '../tables.ts'
import { type Stored, toStored } from '../values.ts'
import { listAdmins } from './accounts.ts'
import { selector, tableName, value } from './arbitraries.ts'
import { readWholeTable } from './queries.ts'
import { listTables } from './tables.ts'
import { listTokens } from './tokens.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND

const passTime = command(
  4,
  fc.constantFrom(1, 7, 749, 750, 999, SECOND, 60 * SECOND, HOUR, 12 * HOUR - 1, 12 * HOUR),
  async ({ model }, milliseconds) => {
    model.now += milliseconds
  }
)

const restart = command(1, fc.constant(null), ({ service }) => service.restart())

/** The service recognises an external commit at its next write, so this makes one. */
export const afterExternalCommit = ({ model, logInAs }: Harness) => logInAs(model.admins[0] as Administrator)

const externalCreate = command(1, fc.record({ name: tableName, kind: selector }), async (harness, { name, kind }) => {
  const { model, service } = harness
  if (isStored(model, name) || findRegistered(model, name) || isAwaited(model, name)) return
  const { sql, table } = externalTable(name, kind)
  service.runExternally(sql)
  model.stored.push(table)
  await afterExternalCommit(harness)
})

const JSON_TYPE = { INTEGER: 'integer', REAL: 'number', TEXT: 'string' } as const
const ANY_VALUE = { INTEGER: 5n, REAL: 0.5, TEXT: 'given' } as const

/** Returns a value for each column: a generated one of its type, otherwise NULL, or a default in a NOT NULL column. */
const valuesFor = ({ columns }: StoredTable, generated: readonly unknown[]) => {
  const valueFor = ({ sqliteType, notNull, defaultValue }: Column, index: number): Stored => {
    const type = sqliteType as keyof typeof JSON_TYPE
    const fitting = toStored(JSON_TYPE[type], pick(generated, index)) ?? null
    return fitting ?? (notNull ? (defaultValue ?? ANY_VALUE[type]) : null)
  }
  return new Map(columns.map((column, index) => [column.name, valueFor(column, index)]))
}

const isSafeKey = ({ key }: StoredTable, values: ReadonlyMap<string, Stored>) => {
  const first = values.get(String(key[0]))
  return first !== null && !(typeof first === 'bigint' && first > 2n ** 60n)
}

const throwMissingKey = () => {
  throw new Error('An external insert always has a key.')
}

const quote = (name: string) => `"${name}"`

/** External inserts skip tables with booleans, objects or arrays: the service defines how these are stored. */
const isPlain = (model: Model, { name }: StoredTable) =>
  (findRegistered(model, name)?.fields ?? []).every(({ jsonType }) =>
    ['integer', 'number', 'string'].includes(jsonType)
  )

const externalInsert = command(
  1,
  fc.record({ at: selector, generated: fc.array(value, { minLength: 1, maxLength: 6 }) }),
  async (harness, { at, generated }) => {
    const { model, service } = harness
    const table = pick(
      model.stored.filter((stored) => isPlain(model, stored)),
      at
    )
    if (!table) return
    const values = valuesFor(table, generated)
    if (!isSafeKey(table, values) || !insert(table, values, { randomKey: throwMissingKey })) return
    const names = [...values.keys()].map(quote)
    const marks = names.map(() => '?')
    service.runExternally(`INSERT INTO ${quote(table.name)} (${names}) VALUES (${marks})`, [...values.values()])
    await afterExternalCommit(harness)
  }
)

const externalDelete = command(1, fc.record({ at: selector, row: selector }), async (harness, { at, row: rowAt }) => {
  const { model, service } = harness
  const table = pick(model.stored, at)
  const row = table && pick(table.rows, rowAt)
  if (!table || !row) return
  const key = table.key.map((name) => `${quote(name)} = ?`)
  service.runExternally(`DELETE FROM ${quote(table.name)} WHERE ${key.join(' AND ')}`, keyOf(table, row))
  remove(table.rows, row)
  await afterExternalCommit(harness)
})

const externalAddColumn = command(1, selector, async (harness, at) => {
  const { model, service } = harness
  const table = pick(model.stored, at)
  if (!table || findColumn(table, 'Extra')) return
  service.runExternally(`ALTER TABLE ${quote(table.name)} ADD COLUMN Extra INTEGER DEFAULT -1`)
  addColumn(table, { name: 'Extra', sqliteType: 'INTEGER', notNull: false, defaultValue: -1n })
  await afterExternalCommit(harness)
})

/** Tables that were dropped, and views that were dropped or do not work any more. */
export const afterDrop = async (harness: Harness, gone: readonly { readonly name: string }[]) => {
  const { model, service } = harness
  const registered = gone.map(({ name }) => findRegistered(model, name)).filter((table) => table !== undefined)
  for (const table of registered) loseFacts(table)
  await afterExternalCommit(harness)
  await service.untilNotServed(registered.map(({ name }) => name))
}

const externalDrop = command(1, selector, async (harness, at) => {
  const { model, service } = harness
  const table = pick(model.stored, at)
  if (!table || at % 3 !== 0) return
  service.runExternally(`DROP TABLE ${quote(table.name)}`)
  remove(model.stored, table)
  const views = model.views.filter(({ base }) => base === table)
  await afterDrop(harness, [table, ...views])
})

/** Compares the whole state of the service with the model. */
export const compareAll = async (harness: Harness) => {
  await listTables.run(harness, 0)
  await listAdmins.run(harness, 0)
  await listTokens.run(harness, 0)
  for (const at of harness.model.registered.keys()) await readWholeTable(harness, at)
}

export const externalEvents = {
  passTime,
  restart,
  externalCreate,
  externalInsert,
  externalDelete,
  externalAddColumn,
  externalDrop,
  compareAll: command(1, fc.constant(null), compareAll)
}

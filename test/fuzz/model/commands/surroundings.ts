import fc from 'fast-check'
import type { Administrator, Model } from '../model.ts'
import { findRegistered, findStored, remove } from '../model.ts'
import { addColumn, type Column, findColumn, foreignTable, insert, keyOf, type StoredTable } from '../stored-tables.ts'
import { loseFacts } from '../tables.ts'
import { type Stored, toStored } from '../values.ts'
import { command, pick, type World } from '../world.ts'
import { listAdmins } from './accounts.ts'
import { tableName, value, which } from './choices.ts'
import { readWholeTable } from './records.ts'
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

/** What another program has committed holds for us from our next write on. */
const afterForeignCommit = ({ model, logInAs }: World) => logInAs(model.admins[0] as Administrator)

const foreignCreate = command(1, fc.record({ name: tableName, kind: which }), async (world, { name, kind }) => {
  const { model, service } = world
  if (findStored(model, name) || findRegistered(model, name)) return
  const { sql, table } = foreignTable(name, kind)
  service.foreign(sql)
  model.stored.push(table)
  await afterForeignCommit(world)
})

const JSON_TYPE = { INTEGER: 'integer', REAL: 'number', TEXT: 'string' } as const
const ANY_VALUE = { INTEGER: 5n, REAL: 0.5, TEXT: 'given' } as const

/** A value for each column that takes one of those that were drawn, or that must have one. */
const valuesFor = ({ columns }: StoredTable, drawn: readonly unknown[]) => {
  const valueFor = ({ sqliteType, notNull, defaultValue }: Column, index: number): Stored => {
    const type = sqliteType as keyof typeof JSON_TYPE
    const fit = toStored(JSON_TYPE[type], pick(drawn, index)) ?? null
    return fit ?? (notNull ? (defaultValue ?? ANY_VALUE[type]) : null)
  }
  return new Map(columns.map((column, index) => [column.name, valueFor(column, index)]))
}

const isSafeKey = ({ key }: StoredTable, values: ReadonlyMap<string, Stored>) => {
  const first = values.get(String(key[0]))
  return first !== null && !(typeof first === 'bigint' && first > 2n ** 60n)
}

const keyMissing = () => {
  throw new Error('Another program names the key of what it stores.')
}

const quote = (name: string) => `"${name}"`

/** Only tables that other programs may know how to fill: what is stored behind a boolean or an object is ours. */
const isPlain = (model: Model, { name }: StoredTable) =>
  (findRegistered(model, name)?.fields ?? []).every(({ jsonType }) =>
    ['integer', 'number', 'string'].includes(jsonType)
  )

const foreignInsert = command(
  1,
  fc.record({ at: which, drawn: fc.array(value, { minLength: 1, maxLength: 6 }) }),
  async (world, { at, drawn }) => {
    const { model, service } = world
    const table = pick(
      model.stored.filter((stored) => isPlain(model, stored)),
      at
    )
    if (!table) return
    const values = valuesFor(table, drawn)
    if (!isSafeKey(table, values) || !insert(table, values, keyMissing)) return
    const names = [...values.keys()].map(quote)
    const marks = names.map(() => '?')
    service.foreign(`INSERT INTO ${quote(table.name)} (${names}) VALUES (${marks})`, [...values.values()])
    await afterForeignCommit(world)
  }
)

const foreignDelete = command(1, fc.record({ at: which, row: which }), async (world, { at, row: rowAt }) => {
  const { model, service } = world
  const table = pick(model.stored, at)
  const row = table && pick(table.rows, rowAt)
  if (!table || !row) return
  const key = table.key.map((name) => `${quote(name)} = ?`)
  service.foreign(`DELETE FROM ${quote(table.name)} WHERE ${key.join(' AND ')}`, keyOf(table, row))
  remove(table.rows, row)
  await afterForeignCommit(world)
})

const foreignAddColumn = command(1, which, async (world, at) => {
  const { model, service } = world
  const table = pick(model.stored, at)
  if (!table || findColumn(table, 'Extra')) return
  service.foreign(`ALTER TABLE ${quote(table.name)} ADD COLUMN Extra INTEGER DEFAULT -1`)
  addColumn(table, { name: 'Extra', sqliteType: 'INTEGER', notNull: false, defaultValue: -1n })
  await afterForeignCommit(world)
})

const foreignDrop = command(1, which, async (world, at) => {
  const { model, service } = world
  const table = pick(model.stored, at)
  if (!table || at % 3 !== 0) return
  service.foreign(`DROP TABLE ${quote(table.name)}`)
  remove(model.stored, table)
  const registered = findRegistered(model, table.name)
  if (registered) loseFacts(registered)
  await afterForeignCommit(world)
})

/** Compares the whole state. */
export const compareAll = async (world: World) => {
  await listTables.run(world, 0)
  await listAdmins.run(world, 0)
  await listTokens.run(world, 0)
  for (const at of world.model.registered.keys()) await readWholeTable(world, at)
}

export const surroundingCommands = {
  passTime,
  restart,
  foreignCreate,
  foreignInsert,
  foreignDelete,
  foreignAddColumn,
  foreignDrop,
  compareAll: command(1, fc.constant(null), compareAll)
}

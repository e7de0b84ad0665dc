import type { Table } from '../tables/queries.ts'
import { type TokenActions, tokenActionsOf } from '../tables/token-actions.ts'
import { texts } from '../texts/roles.ts'
import { type Action, EVERY_TABLE, findGrant, includesName, isSameName } from './grants.ts'
import type { Grant, Rule } from './queries.ts'

/** A row of the matrix: a registered table, a name that a grant has, or all other tables. */
export interface MatrixRow extends TokenActions {
  readonly name: string
  readonly label: string
  readonly kind: Table['kind']
  /** null: no table is registered with the name. */
  readonly table: Table | null
}

const toRow = (table: Table): MatrixRow => ({
  name: table.name,
  label: table.name,
  kind: table.kind,
  table,
  ...tokenActionsOf(table)
})

const unregistered = (name: string, label: string, note: string): MatrixRow => ({
  name,
  label,
  kind: 'table',
  table: null,
  note,
  isEffective: () => true
})

/** Returns the names in grants without a registered table, each once. */
const otherNames = (grants: readonly Grant[], registered: readonly Table[]) => {
  const names = grants.flatMap(({ tables }) => tables).filter((name) => name !== EVERY_TABLE)
  const others = names.filter((name) => !registered.some((table) => isSameName(table.name, name)))
  return others.filter((name, index) => others.findIndex((other) => isSameName(other, name)) === index)
}

export const matrixRows = (grants: readonly Grant[], registered: readonly Table[]): readonly MatrixRow[] => [
  ...registered.map(toRow),
  ...otherNames(grants, registered).map((name) => unregistered(name, name, texts.unregistered)),
  ...(grants.some(({ tables }) => tables.includes(EVERY_TABLE))
    ? [unregistered(EVERY_TABLE, texts.everyTable, texts.everyTableHint)]
    : [])
]

/** What a rule needs of its own table: fields, and foreign keys. */
const needsOf = (rule: Rule): readonly string[] => {
  const { where = {}, all = [], any = [], none = [] } = rule
  return [...Object.keys(where), ...[...all, ...any, ...none].flatMap(needsOf)]
}

const foreignKeysOf = (rule: Rule): readonly string[] => {
  const { via = {}, all = [], any = [], none = [] } = rule
  return [...Object.keys(via), ...[...all, ...any, ...none].flatMap(foreignKeysOf)]
}

/** Returns why a grant opens nothing in a table, as far as names show that; undefined if it opens something. */
export const closedReason = ({ rows = {}, fields = {}, presets = {} }: Grant, table: Table): string | undefined => {
  const names = [...needsOf(rows), ...(fields.read ?? []), ...(fields.write ?? []), ...Object.keys(presets)]
  const known = table.fields.map(({ name }) => name)
  const field = names.find((name) => !includesName(known, name))
  if (field !== undefined) return texts.noField(field)
  const keys = table.foreignKeys.map((key) => key.fields.join(','))
  const foreignKey = foreignKeysOf(rows).find((name) => !includesName(keys, name))
  return foreignKey === undefined ? undefined : texts.noForeignKey(foreignKey)
}

export interface MatrixCell {
  /** The place of the grant, from 1. */
  readonly place: number
  readonly grant: Grant
  /** `closed`: the grant opens nothing. `partial`: only some rows or fields. */
  readonly state: 'whole' | 'partial' | 'closed'
  /** What the state means, for a person. */
  readonly text: string
}

const isPartial = ({ rows, fields }: Grant) => rows !== undefined || fields !== undefined

/** Returns the grant that applies to a row and an action; null if nothing is allowed. */
export const cellOf = (grants: readonly Grant[], row: MatrixRow, action: Action): MatrixCell | null => {
  const grant = row.isEffective(action) ? findGrant(grants, action, row) : undefined
  if (!grant) return null
  const place = grants.indexOf(grant) + 1
  const reason = row.table ? closedReason(grant, row.table) : undefined
  if (reason !== undefined) return { place, grant, state: 'closed', text: texts.closedCell(place, reason) }
  const state = isPartial(grant) ? 'partial' : 'whole'
  const parts = [grant.rows && texts.someRows, grant.fields && texts.someFields].filter((part) => part !== undefined)
  return { place, grant, state, text: texts.cell(place, parts) }
}

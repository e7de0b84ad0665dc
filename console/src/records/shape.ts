import type { Table, TableField } from '../tables/queries.ts'
import { kindOf } from './fields/kind.ts'
import { labelOf } from './fields/label.ts'
import { targetOf } from './fields/references.ts'
import type { Row } from './keys.ts'
import { isSameValue } from './values.ts'

/** The member of a record that has the records to which it refers. */
const EXPAND = 'expand'

/** The limit of the service. */
const MAX_REFERENCES = 10

/** A longer address could be refused. */
const MAX_NAMES = 4000

/** Which part of each record a page loads: parameters of the request. An empty text: all fields, no references. */
export interface Shape {
  readonly fields: string
  readonly expand: string
}

/** Whole records, without the records to which they refer. */
export const WHOLE: Shape = { fields: '', expand: '' }

/** Whether the name can stand in a list of names, which may be in parentheses. */
const isListable = (name: string) => !/[,()]/.test(name) && name === name.trim()

/** The service has no expansions of a table with a field of this name. */
const hasExpansions = ({ fields }: Table) => fields.every(({ name }) => name !== EXPAND)

/** Returns the references to expand, those to tables with a label field, and of each record only the label. */
const expandable = (table: Table, tables: readonly Table[], shown: readonly TableField[]): readonly string[] => {
  if (!hasExpansions(table)) return []
  const paths = shown.flatMap((field) => {
    const target = targetOf(tables, field)
    const label = target?.table.labelField ?? null
    if (!target?.field.isUnique || label === null || label === target.field.name) return []
    return isListable(field.name) && isListable(label) ? [`${field.name}(${label})`] : []
  })
  return paths.slice(0, MAX_REFERENCES)
}

/** Whether the grid loads the values of a field. Those of a BLOB are loaded in the panel of the record. */
export const isLoaded = (field: TableField) => field.isPrimary || kindOf(field) !== 'bytes'

const listOf = ({ fields }: Table, shown: readonly TableField[]) => {
  const names = fields.filter((field) => isLoaded(field) && (field.isPrimary || shown.includes(field)))
  if (names.length === fields.length || !names.every(({ name }) => isListable(name))) return ''
  const list = names.map(({ name }) => name).join(',')
  return list.length > MAX_NAMES ? '' : list
}

/** The part of each record that the grid needs to show these fields. The service adds the key. */
export const shapeOf = (table: Table, tables: readonly Table[], shown: readonly TableField[]): Shape => ({
  fields: listOf(table, shown),
  expand: expandable(table, tables, shown).join(',')
})

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null

const expandedOf = (table: Table, record: Row): Row => {
  const expanded = record[EXPAND]
  return hasExpansions(table) && isObject(expanded) ? expanded : {}
}

/** Returns the label of the record of `target` to which a field of a loaded record refers. */
export const referenceLabel = (table: Table, record: Row, field: TableField, target: Table | undefined) => {
  const referred = expandedOf(table, record)[field.name]
  return target && isObject(referred) ? labelOf(target, referred) : undefined
}

/** Returns a saved record with the records to which it still refers, as they were loaded before. */
export const withReferences = <R extends Row>(table: Table, saved: R, before: Row): R => {
  const kept = Object.entries(expandedOf(table, before)).filter(([name]) => isSameValue(saved[name], before[name]))
  return kept.length === 0 ? saved : { ...saved, [EXPAND]: Object.fromEntries(kept) }
}

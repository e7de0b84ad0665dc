import { queryOptions, useQuery } from '@tanstack/react-query'
import type { components } from '../../api/schema.d.ts'
import type { Table, TableField } from '../../tables/queries.ts'
import type { Row } from '../keys.ts'
import { type RecordSource, useSource } from '../source.ts'
import { parseDraft } from './draft.ts'
import { kindOf } from './kind.ts'
import { labelFieldOf, labelOf } from './label.ts'

type Filter = components['schemas']['TableRecordFilter']

const MAX_MATCHES = 20

/** A record that a foreign key can refer to. */
export interface Choice {
  /** The value of the referenced field, as text. */
  readonly value: string
  readonly label: string | undefined
}

export interface Target {
  readonly table: Table
  readonly field: TableField
}

/** Returns the table and the field that a foreign key refers to, if the table is registered. */
export const targetOf = (tables: readonly Table[], { references }: TableField): Target | undefined => {
  if (!references) return undefined
  const table = tables.find(({ name }) => name.toLowerCase() === references.table.toLowerCase())
  const field = table?.fields.find(({ name }) => name === references.field)
  return table && field && { table, field }
}

/** The target of a foreign key. Each cell can call it: the list of tables is loaded once. */
export const useTarget = (field: TableField) => {
  const source = useSource()
  const tables = useQuery({ ...source.tables, enabled: field.references !== undefined })
  return targetOf(tables.data ?? [], field)
}

/** Returns the key in `?record=`, if the referenced field is the whole key. */
export const recordHref = ({ table, field }: Target, value: unknown) =>
  field.isPrimary && table.primaryKey === field.name
    ? `/tables/${table.id}?record=${encodeURIComponent(String(value))}`
    : undefined

const toChoice = ({ table, field }: Target, row: Row): Choice => ({
  value: String(row[field.name]),
  label: labelOf(table, row)
})

/** What a list of records to choose from is read from. */
interface Reading {
  readonly source: RecordSource
  readonly target: Target
  readonly signal: AbortSignal
}

const list = async ({ source, target, signal }: Reading, query: { readonly q?: string; readonly filter?: Filter }) => {
  const { table, field } = target
  const fields = [...new Set([field.name, labelFieldOf(table)?.name ?? field.name])]
  const body = { ...query, size: MAX_MATCHES, fields }
  const { rows } = await source.query(table, body, signal)
  return rows.map((row) => toChoice(target, row))
}

/** Returns the record with this value, in a list of one or none. */
const listEqual = async (reading: Reading, text: string) => {
  const { target } = reading
  const parsed = parseDraft(target.field, text)
  if ('error' in parsed || text === '') return []
  return list(reading, { filter: { where: { [target.field.name]: { eq: parsed.value } } } })
}

/** Searches the label and the referenced field, or all texts of a table without a label. */
const searchOf = ({ table, field }: Target, q: string) => {
  if (q === '') return {}
  const label = labelFieldOf(table)
  if (!label || kindOf(label) !== 'text') return { q }
  const searched = kindOf(field) === 'text' ? [label, field] : [label]
  return { filter: { any: searched.map(({ name }) => ({ where: { [name]: { contains: q } } })) } }
}

/** The records that match a text, for a list to choose from. The one whose key was typed is the first. */
export const choicesQuery = (source: RecordSource, target: Target, q: string) =>
  queryOptions({
    queryKey: [...source.key, 'choices', target.table.id, target.field.name, 'search', q],
    queryFn: async ({ signal }) => {
      const reading = { source, target, signal }
      const [equal, found] = await Promise.all([listEqual(reading, q), list(reading, searchOf(target, q))])
      const isOther = ({ value }: Choice) => value !== equal[0]?.value
      return [...equal, ...found.filter(isOther)]
    }
  })

/** The record that a value refers to; null if there is none. */
export const choiceQuery = (source: RecordSource, target: Target, value: string) =>
  queryOptions({
    queryKey: [...source.key, 'choices', target.table.id, target.field.name, 'value', value],
    queryFn: async ({ signal }) => (await listEqual({ source, target, signal }, value))[0] ?? null
  })

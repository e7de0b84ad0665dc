import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { type Table, type TableField, tablesQuery } from '../../tables/queries.ts'
import type { Row } from '../keys.ts'
import { parseDraft } from './draft.ts'
import { kindOf } from './kind.ts'

const MAX_MATCHES = 20

/** A record that a foreign key can refer to. */
export interface Choice {
  /** The value of the referenced field, as text. */
  readonly value: string
  readonly label: string
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
  const tables = useQuery({ ...tablesQuery, enabled: field.references !== undefined })
  return targetOf(tables.data ?? [], field)
}

/** Returns the key in `?record=`, if the referenced field is the whole key. */
export const recordHref = ({ table, field }: Target, value: unknown) =>
  field.isPrimary && table.primaryKey === field.name
    ? `/tables/${table.id}?record=${encodeURIComponent(String(value))}`
    : undefined

const LABELS = /^(?:name|title|label|.*name|.*title|email|code)$/i

/** Returns the field that people know a record by: its name or title, otherwise its first text. */
export const labelField = ({ fields }: Table) => {
  const texts = fields.filter((field) => kindOf(field) === 'text' && !field.isHidden)
  return texts.find(({ name }) => LABELS.test(name)) ?? texts[0]
}

const toChoice = ({ table, field }: Target, row: Row): Choice => {
  const label = labelField(table)
  return { value: String(row[field.name]), label: label ? String(row[label.name] ?? '') : '' }
}

const fieldsOf = ({ table, field }: Target) =>
  [...new Set([field.name, labelField(table)?.name ?? field.name])].join(',')

const list = async (target: Target, query: { readonly q?: string; readonly filter?: string }, signal: AbortSignal) => {
  const { rows } = await dataOf(
    api.GET('/admin/tables/{id}/data', {
      params: {
        path: { id: target.table.id },
        query: { ...query, size: MAX_MATCHES, total: false, fields: fieldsOf(target) }
      },
      signal
    })
  )
  return rows.map((row) => toChoice(target, row))
}

/** The records that match a text, for a list to choose from. */
export const choicesQuery = (target: Target, q: string) =>
  queryOptions({
    queryKey: ['choices', target.table.id, target.field.name, 'search', q],
    queryFn: ({ signal }) => list(target, q === '' ? {} : { q }, signal)
  })

/** The record that a value refers to; null if there is none. */
export const choiceQuery = (target: Target, value: string) =>
  queryOptions({
    queryKey: ['choices', target.table.id, target.field.name, 'value', value],
    queryFn: async ({ signal }) => {
      const parsed = parseDraft(target.field, value)
      if ('error' in parsed) return null
      const filter = JSON.stringify({ where: { [target.field.name]: { eq: parsed.value } } })
      return (await list(target, { filter }, signal))[0] ?? null
    }
  })

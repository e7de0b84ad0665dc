import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import type { Table } from '../queries.ts'

export type Importable = components['schemas']['ImportableTable']
type TableImport = components['schemas']['TableImport']

/** Read once for each visit: tables that were imported stay in the list, with their links. */
export const importableQuery = queryOptions({
  queryKey: ['importable'],
  queryFn: () => dataOf(api.GET('/admin/tables/importable')),
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 0,
  refetchOnWindowFocus: false
})

/** What an administrator decides about one table before its import. */
export interface Choice {
  readonly isChosen: boolean
  readonly label: string
  readonly hidden: ReadonlySet<string>
  readonly fieldLabels: ReadonlyMap<string, string>
  /** Of a view: the fields that identify each record. */
  readonly key: readonly string[]
}

export const NO_CHOICE: Choice = { isChosen: false, label: '', hidden: new Set(), fieldLabels: new Map(), key: [] }

export const isSameChoice = (one: Choice, other: Choice) =>
  JSON.stringify(valuesOf(one)) === JSON.stringify(valuesOf(other))

/** JSON has no sets. An empty label is none. */
const valuesOf = ({ isChosen, label, hidden, fieldLabels, key }: Choice) => [
  isChosen,
  label,
  [...hidden],
  [...fieldLabels].filter(([, text]) => text !== ''),
  key
]

export interface Access {
  readonly isPublished: boolean
  readonly isEditable: boolean
}

/** The state of the import of one table. */
export type Progress =
  | { readonly state: 'waiting' | 'running' }
  | { readonly state: 'done'; readonly table: Table }
  | { readonly state: 'failed'; readonly error: unknown }

const fieldsOf = ({ fields }: Importable, { hidden, fieldLabels }: Choice) =>
  fields
    .map(({ name }) => ({ name, isHidden: hidden.has(name), label: fieldLabels.get(name) ?? '' }))
    .filter(({ isHidden, label }) => isHidden || label !== '')
    .map(({ name, isHidden, label }) => ({ name, ...(isHidden && { isHidden }), ...(label !== '' && { label }) }))

/** Hidden fields are part of the same request: tokens never see the table without this choice. */
export const toImport = (table: Importable, choice: Choice, { isPublished, isEditable }: Access): TableImport => {
  const fields = fieldsOf(table, choice)
  return {
    name: table.name,
    isPublished,
    ...(table.kind === 'table' && { isEditable }),
    ...(choice.label !== '' && { label: choice.label }),
    ...(fields.length > 0 && { fields }),
    ...(table.kind === 'view' && choice.key.length > 0 && { primaryKey: [...choice.key] })
  }
}

/** For a request with `name`, the response has one table. */
export const importTable = async (body: TableImport) =>
  (await dataOf(api.POST('/admin/tables/import', { body }))) as unknown as Table

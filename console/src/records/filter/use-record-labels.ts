import { useQueries, useQuery } from '@tanstack/react-query'
import type { Table } from '../../tables/queries.ts'
import { toDraft } from '../fields/draft.ts'
import { choiceQuery, targetOf } from '../fields/references.ts'
import { useSource } from '../source.ts'
import type { Filter } from './filter.ts'
import type { LabelOf } from './sentence.ts'

/** Other values stand in the sentence without a label. */
const MAX_LABELS = 10

interface Named {
  readonly field: string
  readonly value: unknown
}

/** Returns the values that conditions compare for equality. */
const valuesIn = ({ where = {}, all = [], any = [], none = [] }: Filter): readonly Named[] => [
  ...Object.entries(where).flatMap(([field, { eq, ne }]) => [eq, ne].map((value) => ({ field, value }))),
  ...[...all, ...any, ...none].flatMap(valuesIn)
]

/** The labels of the records that a filter names by their keys. */
export const useRecordLabels = ({ fields }: Table, filter: Filter | undefined): LabelOf => {
  const source = useSource()
  const tables = useQuery({ ...source.tables, enabled: fields.some(({ references }) => references !== undefined) })
  const named = valuesIn(filter ?? {}).flatMap(({ field: name, value }) => {
    const field = fields.find((other) => other.name === name)
    const target = field && targetOf(tables.data ?? [], field)
    const text = toDraft(value)
    return target && typeof text === 'string' ? [{ name, value, query: choiceQuery(source, target, text) }] : []
  })
  const asked = named.slice(0, MAX_LABELS)
  const found = useQueries({ queries: asked.map(({ query }) => query) })
  return (name, value) => found[asked.findIndex((known) => known.name === name && known.value === value)]?.data?.label
}

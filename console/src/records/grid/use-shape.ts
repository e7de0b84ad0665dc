import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Table } from '../../tables/queries.ts'
import { type Shape, shapeOf } from '../shape.ts'
import { useSource } from '../source.ts'
import type { Preferences } from './preferences.ts'

/** The part of each record that the grid loads; undefined until it is known to which tables the records refer. */
export const useShape = (table: Table, { hidden }: Preferences): Shape | undefined => {
  const source = useSource()
  const hasReferences = table.fields.some(({ references }) => references !== undefined)
  const { data: tables = [], isLoading } = useQuery({ ...source.tables, enabled: hasReferences })
  const shown = table.fields.filter(({ name }) => !hidden.includes(name))
  const { fields, expand } = shapeOf(table, tables, shown)
  const shape = useMemo(() => ({ fields, expand }), [fields, expand])
  return isLoading ? undefined : shape
}

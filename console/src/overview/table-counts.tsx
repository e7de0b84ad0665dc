import { useQueries } from '@tanstack/react-query'
import { Link } from 'wouter'
import { countQuery, type Table, titleOf } from '../tables/queries.ts'
import { texts } from '../texts/overview.ts'
import { formatCount } from '../ui/size.ts'
import styles from './overview.module.css'

const noteOf = ({ kind, isPublished, isEditable }: Table) => {
  if (kind === 'view') return texts.kinds.view
  if (!isPublished) return texts.unpublished
  return isEditable ? '' : texts.readOnly
}

interface RowProps {
  readonly table: Table
  readonly count: number | null | undefined
  /** The count of the table with the most records. */
  readonly max: number
}

const Row = ({ table, count, max }: RowProps) => (
  <li className={styles.row}>
    <Link href={`/tables/${table.id}`} className={styles.name} title={table.name} dir="auto">
      {titleOf(table)}
    </Link>
    <span className={styles.note}>{noteOf(table)}</span>
    <span className={styles.count}>
      {count === null ? texts.notCounted : count !== undefined && formatCount(count)}
    </span>
    <span className={styles.bar} style={{ width: `${max === 0 ? 0 : (100 * (count ?? 0)) / max}%` }} />
  </li>
)

/**
 * The tables with their numbers of records. The bar below a table compares its number with that of the table with the
 * most records.
 */
export const TableCounts = ({ tables }: { readonly tables: readonly Table[] }) => {
  const counts = useQueries({ queries: tables.map(({ id }) => countQuery(id)) })
  const max = Math.max(0, ...counts.map(({ data }) => data ?? 0))
  return (
    <ul className={styles.rows}>
      {tables.map((table, index) => (
        <Row key={table.id} table={table} count={counts[index]?.isError ? null : counts[index]?.data} max={max} />
      ))}
    </ul>
  )
}

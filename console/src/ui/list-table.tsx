import type { ReactNode } from 'react'
import { Hidden } from './hidden.tsx'
import styles from './list-table.module.css'

interface Column {
  readonly key: string
  readonly label: string
  /** true: left out on a narrow screen. The page of the row shows it. */
  readonly isSecondary?: boolean
  /** true: only screen readers read the label. */
  readonly isLabelHidden?: boolean
}

interface ListTableProps<T> {
  readonly label: string
  readonly columns: readonly Column[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => number | string
  /** The content of a cell. */
  readonly cell: (row: T, column: string) => ReactNode
}

/** A list of settings: one row for each, with hairlines between them. The first column names the row. */
export const ListTable = <T,>({ label, columns, rows, keyOf, cell }: ListTableProps<T>) => {
  const [first, ...others] = columns
  const styleOf = ({ isSecondary }: Column) => (isSecondary ? styles.secondary : undefined)
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.key} scope="col" className={styleOf(column)}>
              {column.isLabelHidden ? <Hidden>{column.label}</Hidden> : column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {first && <th scope="row">{cell(row, first.key)}</th>}
            {others.map((column) => (
              <td key={column.key} className={styleOf(column)}>
                {cell(row, column.key)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

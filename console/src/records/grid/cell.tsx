import type { Table, TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { FieldValue } from '../fields/field-value.tsx'
import { isRight } from './align.ts'
import styles from './cell.module.css'
import type { Row } from './use-rows.ts'

interface CellProps {
  readonly table: Table
  readonly field: TableField
  readonly row: Row
}

/** The content of a cell: its value, or what the user has entered until it is saved. */
export const Cell = ({ table, field, row }: CellProps) => {
  if (!row.record) return <span className={styles.skeleton} />
  const unsaved = row.unsaved?.get(field.name)
  if (!unsaved) return <FieldValue table={table} field={field} value={row.record[field.name]} />
  return (
    <div
      className={unsaved.error === undefined ? styles.saving : styles.failed}
      data-side={isRight(field) ? 'right' : undefined}
    >
      <FieldValue table={table} field={field} value={unsaved.draft} />
      {unsaved.error !== undefined && (
        <span role="alert" className={styles.error}>
          {unsaved.error} <span className={styles.hint}>{texts.escapeDiscards}</span>
        </span>
      )}
    </div>
  )
}

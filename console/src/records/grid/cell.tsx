import type { Table, TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { FieldValue, NotLoaded } from '../fields/field-value.tsx'
import { useTarget } from '../fields/references.ts'
import type { RecordData } from '../queries.ts'
import { isLoaded, referenceLabel } from '../shape.ts'
import { isRight } from './align.ts'
import styles from './cell.module.css'
import type { Row } from './use-rows.ts'

interface CellProps {
  readonly table: Table
  readonly field: TableField
  readonly row: Row
}

const Stored = ({ table, field, record }: Omit<CellProps, 'row'> & { readonly record: RecordData }) => {
  const target = useTarget(field)
  if (!isLoaded(field)) return <NotLoaded />
  const label = referenceLabel(table, record, field, target?.table)
  return <FieldValue table={table} field={field} value={record[field.name]} label={label} />
}

/** The content of a cell: its value, or what the user has entered until it is saved. */
export const Cell = ({ table, field, row }: CellProps) => {
  if (!row.record) return <span className={styles.skeleton} />
  const unsaved = row.unsaved?.get(field.name)
  if (!unsaved) return <Stored table={table} field={field} record={row.record} />
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

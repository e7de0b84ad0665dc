import { ArrowDown, ArrowUp, EyeOff, KeyRound, Link2 } from 'lucide-react'
import type { SortDirection } from 'react-data-grid'
import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import styles from './grid.module.css'

/** Everything about a field, in one line. */
export const describe = ({ name, jsonType, sqliteType, ...field }: TableField) =>
  [
    name,
    sqliteType === jsonType.toUpperCase() ? sqliteType : `${sqliteType} (${jsonType})`,
    field.isPrimary && texts.key.toLowerCase(),
    !field.isNullable && texts.notNull,
    field.isUnique && texts.unique,
    field.references && texts.reference(field.references.table, field.references.field),
    field.isHidden && texts.hidden,
    field.isReadonly && texts.readonly
  ]
    .filter(Boolean)
    .join(' · ')

interface HeaderProps {
  readonly field: TableField
  readonly direction: SortDirection | undefined
  readonly priority: number | undefined
}

/** The header of a column: its name, whether it is a key, and how it is sorted. */
export const Header = ({ field, direction, priority }: HeaderProps) => {
  const Arrow = direction === 'DESC' ? ArrowDown : ArrowUp
  return (
    <span className={styles.header} title={describe(field)}>
      {field.isPrimary && <KeyRound size={12} aria-label={texts.key} />}
      {field.references && (
        <Link2 size={13} aria-label={texts.reference(field.references.table, field.references.field)} />
      )}
      {field.isHidden && <EyeOff size={12} aria-label={texts.hidden} />}
      <span className={styles.name} dir="auto">
        {field.label || field.name}
      </span>
      {direction && <Arrow size={12} className={styles.arrow} aria-hidden="true" />}
      {priority !== undefined && <span className={styles.priority}>{priority}</span>}
    </span>
  )
}

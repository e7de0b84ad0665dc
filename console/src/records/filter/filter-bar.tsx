import { X } from 'lucide-react'
import type { Table } from '../../tables/queries.ts'
import { texts } from '../../texts/records-filter.ts'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import styles from './filter.module.css'
import { parseFilter } from './filter.ts'
import { toSentence } from './sentence.ts'
import { useRecordLabels } from './use-record-labels.ts'

interface FilterBarProps {
  readonly table: Table
  readonly filter: string
  readonly onEdit: () => void
  readonly onRemove: () => void
}

/** The present filter as a sentence, above the grid. */
export const FilterBar = ({ table, filter, onEdit, onRemove }: FilterBarProps) => {
  const parsed = parseFilter(filter)
  const recordLabel = useRecordLabels(table, parsed)
  const sentence = parsed ? toSentence(table.fields, parsed, recordLabel) : texts.invalid
  return (
    <div className={styles.bar}>
      <span className={styles.where}>{texts.showing}</span>
      <button type="button" className={styles.sentence} title={`${sentence}\n${texts.editFilter}`} onClick={onEdit}>
        <bdi>{sentence}</bdi>
      </button>
      <CopyButton text={filter} label={texts.copyJson} />
      <IconButton label={texts.removeFilter} onClick={onRemove}>
        <X size={14} aria-hidden="true" />
      </IconButton>
    </div>
  )
}

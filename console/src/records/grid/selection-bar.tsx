import { useState } from 'react'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { Button } from '../../ui/button.tsx'
import { DeleteDialog } from './delete-records.tsx'
import type { Selection } from './selection.tsx'
import styles from './selection-bar.module.css'

interface SelectionBarProps {
  readonly table: Table
  readonly selected: Selection
  /** Whether rows of a range are read, to be selected. */
  readonly isReading: boolean
  readonly onClear: () => void
}

/** What can be done with the selected records. */
export const SelectionBar = ({ table, selected, isReading, onClear }: SelectionBarProps) => {
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={styles.bar}>
      <span role="status">{isReading ? texts.readingRange : texts.selected(selected.size)}</span>
      <Button variant="quiet" onClick={onClear}>
        {texts.clearSelection}
      </Button>
      <Button variant="danger" disabled={isReading} onClick={() => setAsking(true)}>
        {texts.deleteAction(selected.size, titleOf(table))}
      </Button>
      {isAsking && (
        <DeleteDialog
          table={table}
          selected={selected}
          onClose={() => setAsking(false)}
          onDeleted={() => {
            setAsking(false)
            onClear()
          }}
        />
      )}
    </div>
  )
}

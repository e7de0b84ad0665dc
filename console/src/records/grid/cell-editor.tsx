import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Table, TableField } from '../../tables/queries.ts'
import { type Draft, toDraft } from '../fields/draft.ts'
import { FieldEditor } from '../fields/field-editor.tsx'
import styles from './grid.module.css'
import type { Row } from './use-rows.ts'

interface CellEditorProps {
  readonly table: Table
  readonly field: TableField
  readonly row: Row
  readonly onEnter: (draft: Draft) => void
}

const rightOf = (element: Element) => element.getBoundingClientRect().right

/** Edits a cell in place. What is typed first replaces the value, as in a spreadsheet. */
export const CellEditor = ({ table, field, row, onEnter }: CellEditorProps) => {
  const box = useRef<HTMLDivElement>(null)
  const unsaved = row.unsaved?.get(field.name)
  const stored = unsaved ? unsaved.draft : toDraft(row.record?.[field.name])
  const [side, setSide] = useState<'left' | 'right'>('left')
  useLayoutEffect(() => {
    // At the right edge of the grid, the editor grows to the left.
    const grid = box.current?.closest('[role=grid]')
    if (box.current && grid && rightOf(box.current) > rightOf(grid)) setSide('right')
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: Once, when the editor opens.
  useEffect(() => {
    // So that Enter saves again what could not be saved.
    if (unsaved) onEnter(unsaved.draft)
    const { activeElement } = document
    const isText = activeElement instanceof HTMLInputElement || activeElement instanceof HTMLTextAreaElement
    if (isText && box.current?.contains(activeElement)) activeElement.select()
  }, [])
  return (
    <div ref={box} className={styles.editor} data-side={side}>
      <FieldEditor
        table={table}
        field={field}
        layout="cell"
        autoFocus
        value={row.entry ? row.entry.draft : stored}
        error={row.entry === undefined || row.entry.draft === unsaved?.draft ? unsaved?.error : undefined}
        onChange={onEnter}
      />
    </div>
  )
}

import { useCallback, useEffect, useRef, useState } from 'react'
import { type Edit, type Unsaved, type UnsavedCells, withoutFailed, withUnsaved } from './unsaved.ts'

/** The unsaved cells. `isLatest` reads them between two renderings. */
export const useUnsaved = () => {
  const [unsaved, setUnsaved] = useState<UnsavedCells>(new Map())
  const now = useRef(unsaved)

  const set = useCallback((next: UnsavedCells) => {
    now.current = next
    setUnsaved(next)
  }, [])

  // After the user has left the table, nothing is the latest any more: what waits is not saved.
  useEffect(() => () => set(new Map()), [set])

  const mark = useCallback(
    (pk: string, field: string, cell: Unsaved | null) => set(withUnsaved(now.current, pk, field, cell)),
    [set]
  )

  /** Whether the user has not entered something else since, and has not discarded it. */
  const isLatest = useCallback((edit: Edit) => now.current.get(edit.pk)?.get(edit.field)?.edit === edit, [])

  const isSaving = useCallback((pk: string, field: string) => {
    const cell = now.current.get(pk)?.get(field)
    return cell !== undefined && cell.error === undefined
  }, [])

  return { unsaved, mark, isLatest, isSaving, discardFailed: useCallback(() => set(withoutFailed(now.current)), [set]) }
}

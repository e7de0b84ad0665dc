import { useEffect } from 'react'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { LeaveDialog } from '../../ui/leave-dialog.tsx'
import { useLeaveGuard } from '../../ui/leave-guard.ts'
import { countUnsaved, type UnsavedCells } from './unsaved.ts'

interface LeaveEditsProps {
  readonly table: Table
  readonly unsaved: UnsavedCells
}

/** Another filter, order or panel keeps the unsaved cells. */
const isSamePage = (to: URL, from: URL) => to.pathname === from.pathname

/** Asks before the user leaves a table with unsaved cells. */
export const LeaveEdits = ({ table, unsaved }: LeaveEditsProps) => {
  const count = countUnsaved(unsaved)
  const guard = useLeaveGuard(count > 0, isSamePage)
  useEffect(() => {
    // The last cell was saved while the dialog was open.
    if (guard.isAsking && count === 0) guard.leave()
  }, [guard, count])
  return <LeaveDialog guard={guard} hint={texts.unsavedOf(count, titleOf(table))} />
}

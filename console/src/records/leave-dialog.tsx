import { texts } from '../texts/record-panel.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import type { LeaveGuard } from '../ui/leave-guard.ts'

interface LeaveDialogProps {
  readonly guard: LeaveGuard
  /** Names what is not saved. */
  readonly hint: string
}

/** Asks before unsaved changes are lost. */
export const LeaveDialog = ({ guard, hint }: LeaveDialogProps) =>
  guard.isAsking && (
    <ConfirmDialog
      title={texts.discardTitle}
      hint={hint}
      action={texts.discard}
      cancel={texts.keepEditing}
      run={async () => guard.leave()}
      onClose={guard.stay}
    />
  )

import { texts } from '../texts/common.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { type LeaveGuard, useLeaveGuard } from './leave-guard.ts'

/** Nothing of a form is in the address of its page. */
const keepsNothing = () => false

/** While `isDirty`, asks before the user leaves a form. */
export const useFormGuard = (isDirty: boolean): LeaveGuard => useLeaveGuard(isDirty, keepsNothing)

interface LeaveDialogProps {
  readonly guard: LeaveGuard
  readonly title?: string
  /** Says what would be lost. */
  readonly hint?: string
  /** The text of the button that leaves. */
  readonly action?: string
}

/** Asks before unsaved changes are lost. */
export const LeaveDialog = ({
  guard,
  title = texts.discardTitle,
  hint = texts.discardHint,
  action = texts.discard
}: LeaveDialogProps) =>
  guard.isAsking && (
    <ConfirmDialog
      title={title}
      hint={hint}
      action={action}
      cancel={texts.stay}
      run={async () => guard.leave()}
      onClose={guard.stay}
    />
  )

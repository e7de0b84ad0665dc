import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { texts } from '../texts/common.ts'
import { Button } from './button.tsx'
import { Actions, Dialog } from './dialog.tsx'
import { Problem } from './page.tsx'

interface ConfirmDialogProps {
  /** Names what is destroyed. */
  readonly title: string
  readonly hint?: ReactNode
  /** The text of the button that destroys. */
  readonly action: string
  readonly cancel?: string
  readonly run: () => Promise<void>
  readonly onDone?: () => void
  readonly onClose: () => void
}

/** Asks before something is destroyed. A failure stays in the dialog. */
export const ConfirmDialog = ({ title, hint, action, cancel, run, onDone, onClose }: ConfirmDialogProps) => {
  const destroy = useMutation({
    mutationFn: run,
    onSuccess: () => {
      onClose()
      onDone?.()
    }
  })
  return (
    <Dialog title={title} hint={hint} onClose={onClose}>
      {destroy.isError && <Problem error={destroy.error} />}
      <Actions>
        <Button onClick={onClose}>{cancel ?? texts.cancel}</Button>
        <Button variant="danger" disabled={destroy.isPending} onClick={() => destroy.mutate()}>
          {action}
        </Button>
      </Actions>
    </Dialog>
  )
}

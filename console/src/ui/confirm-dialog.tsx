import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { texts } from '../texts/common.ts'
import { Button } from './button.tsx'
import { Actions, Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'
import { Form } from './form.tsx'
import { Problem } from './page.tsx'

interface ConfirmDialogProps {
  /** Names what is destroyed. */
  readonly title: string
  /** What will be lost, and what stays. */
  readonly hint?: ReactNode
  /** The text of the button that destroys. */
  readonly action: string
  readonly cancel?: string
  /** A name that must be typed before. */
  readonly typedName?: string
  readonly run: () => Promise<unknown>
  readonly onDone?: () => void
  /** Leaves the page of what is destroyed. Not called if the user has already left it. */
  readonly leave?: () => void
  readonly onClose: () => void
}

/** Asks before something is destroyed. A failure stays in the dialog. */
export const ConfirmDialog = ({
  title,
  hint,
  action,
  cancel = texts.cancel,
  typedName,
  run,
  onDone,
  leave,
  onClose
}: ConfirmDialogProps) => {
  const [typed, setTyped] = useState('')
  const destroy = useMutation({ mutationFn: run, onSuccess: () => onDone?.() })
  const isReady = typedName === undefined || typed === typedName
  const finish = () => {
    onClose()
    leave?.()
  }
  return (
    <Dialog title={title} hint={hint} onClose={onClose}>
      <Form onSubmit={() => isReady && destroy.mutate(undefined, { onSuccess: finish })}>
        {typedName !== undefined && (
          <TextField
            label={texts.typeName(typedName)}
            isMono
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
        {destroy.isError && <Problem error={destroy.error} />}
        <Actions>
          <Button onClick={onClose}>{cancel}</Button>
          <Button type="submit" variant="danger" disabled={!isReady || destroy.isPending}>
            {action}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Problem } from '../../ui/page.tsx'

interface ConfirmDialogProps {
  readonly title: string
  /** What will be lost, and what stays. */
  readonly hint: ReactNode
  /** The text of the button: what it does. */
  readonly action: string
  /** The name that must be typed before. */
  readonly typedName?: string
  readonly run: () => Promise<unknown>
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks before something is destroyed. A refusal of the service is shown in the dialog. */
export const ConfirmDialog = ({ title, hint, action, typedName, run, onDone, onClose }: ConfirmDialogProps) => {
  const [typed, setTyped] = useState('')
  const removal = useMutation({ mutationFn: run, onSuccess: onDone })
  const isReady = typedName === undefined || typed === typedName
  return (
    <Dialog title={title} hint={hint} onClose={onClose}>
      <Form onSubmit={() => isReady && removal.mutate()}>
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
        {removal.isError && <Problem error={removal.error} />}
        <Actions>
          <Button variant="quiet" onClick={onClose}>
            {common.cancel}
          </Button>
          <Button type="submit" variant="danger" disabled={!isReady || removal.isPending}>
            {action}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}

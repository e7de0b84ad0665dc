import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/admins.ts'
import { texts as common } from '../texts/common.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { FormProblem } from '../ui/page.tsx'
import { FirstPasswordField } from './first-password-field.tsx'
import { type Admin, changeAdmin } from './queries.ts'

interface ResetDialogProps {
  readonly admin: Admin
  readonly onReset: (name: string, password: string) => void
  readonly onClose: () => void
}

export const ResetDialog = ({ admin: { id, name }, onReset, onClose }: ResetDialogProps) => {
  const [password, setPassword] = useState('')
  const reset = useMutation({ mutationFn: () => changeAdmin(id, { password }) })
  const errors = fieldErrors(reset.error)
  return (
    <Dialog title={texts.resetTitle(name)} hint={texts.resetHint} onClose={onClose}>
      <Form onSubmit={() => reset.mutate(undefined, { onSuccess: () => onReset(name, password) })}>
        <FirstPasswordField
          label={texts.newPassword}
          value={password}
          error={errors.get('password')}
          onChange={setPassword}
        />
        <FormProblem error={reset.error} fields={['password']} />
        <Actions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" variant="danger" disabled={reset.isPending}>
            {texts.resetDo}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}

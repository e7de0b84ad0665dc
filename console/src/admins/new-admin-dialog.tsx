import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/admins.ts'
import { texts as common } from '../texts/common.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { FormProblem } from '../ui/page.tsx'
import { FirstPasswordField } from './first-password-field.tsx'
import { createAdmin } from './queries.ts'

interface NewAdminDialogProps {
  readonly onCreated: (name: string, password: string) => void
  readonly onClose: () => void
}

const EMPTY = { name: '', nickname: '', password: '' }

export const NewAdminDialog = ({ onCreated, onClose }: NewAdminDialogProps) => {
  const [account, setAccount] = useState(EMPTY)
  const guard = useFormGuard(account !== EMPTY)
  const creating = useMutation({ mutationFn: () => createAdmin(account) })
  const showPassword = () => onCreated(account.name, account.password)
  const errors = fieldErrors(creating.error)
  const edit = (changes: Partial<typeof account>) => setAccount({ ...account, ...changes })
  return (
    <Dialog title={texts.add} onClose={() => guard.ask(onClose)}>
      <Form onSubmit={() => creating.mutate(undefined, { onSuccess: showPassword })}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={account.name}
          error={errors.get('name')}
          onChange={(event) => edit({ name: event.target.value })}
        />
        <TextField
          label={texts.nickname}
          hint={texts.nicknameHint}
          autoComplete="off"
          value={account.nickname}
          error={errors.get('nickname')}
          onChange={(event) => edit({ nickname: event.target.value })}
        />
        <FirstPasswordField
          label={texts.password}
          value={account.password}
          error={errors.get('password')}
          onChange={(password) => edit({ password })}
        />
        <FormProblem error={creating.error} fields={Object.keys(EMPTY)} />
        <Actions>
          <Button onClick={() => guard.ask(onClose)}>{common.cancel}</Button>
          <Button type="submit" variant="primary" disabled={creating.isPending}>
            {texts.create}
          </Button>
        </Actions>
      </Form>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}

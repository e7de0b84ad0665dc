import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/session.ts'
import { Button } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { Form, Username } from '../ui/form.tsx'
import { FormProblem } from '../ui/page.tsx'
import { notify } from '../ui/toast.tsx'
import { accountQuery, changePassword } from './account.ts'
import { PasswordField } from './password-field.tsx'

interface PasswordFormProps {
  /** Buttons beside the main one. */
  readonly children?: ReactNode
}

/** Changes the password of one's own account. */
export const PasswordForm = ({ children }: PasswordFormProps) => {
  const account = useQuery(accountQuery)
  const [present, setPresent] = useState('')
  const [next, setNext] = useState('')
  const change = useMutation({
    mutationFn: () => changePassword(present, next),
    onSuccess: () => {
      setPresent('')
      setNext('')
      notify({ title: texts.changed })
    }
  })
  const errors = fieldErrors(change.error)
  return (
    <Form onSubmit={() => change.mutate()}>
      <Username name={account.data?.name ?? ''} />
      <PasswordField
        label={texts.oldPassword}
        error={errors.get('oldPassword')}
        value={present}
        onChange={setPresent}
      />
      <PasswordField
        label={texts.newPassword}
        hint={texts.newPasswordHint}
        error={errors.get('newPassword')}
        isNew
        value={next}
        onChange={setNext}
      />
      <FormProblem error={change.error} fields={['oldPassword', 'newPassword']} />
      <Actions>
        {children}
        <Button type="submit" variant="primary" disabled={change.isPending}>
          {texts.change}
        </Button>
      </Actions>
    </Form>
  )
}

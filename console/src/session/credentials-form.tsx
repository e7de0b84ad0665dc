import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { texts } from '../texts/session.ts'
import { Button } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/page.tsx'
import { logIn } from './account.ts'
import { PasswordField } from './password-field.tsx'

interface CredentialsFormProps {
  /** The name of the account, if it cannot be another one. */
  readonly fixedName?: string
  readonly onLogIn?: () => void
  /** Buttons beside the main one. */
  readonly children?: ReactNode
}

/** Name, password, and the button that logs in. */
export const CredentialsForm = ({ fixedName, onLogIn, children }: CredentialsFormProps) => {
  const [name, setName] = useState(fixedName ?? '')
  const [password, setPassword] = useState('')
  const login = useMutation({ mutationFn: () => logIn(name, password), onSuccess: () => onLogIn?.() })
  return (
    <Form onSubmit={() => login.mutate()}>
      <TextField
        label={texts.name}
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        // The password is all that a known administrator has to enter: it gets the focus.
        {...(fixedName === undefined ? { autoFocus: true } : { readOnly: true, tabIndex: -1 })}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <PasswordField label={texts.password} value={password} onChange={setPassword} />
      {login.isError && <Problem error={login.error} />}
      <Actions>
        {children}
        <Button type="submit" variant="primary" disabled={login.isPending}>
          {texts.logIn}
        </Button>
      </Actions>
    </Form>
  )
}

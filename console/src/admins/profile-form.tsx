import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/admins.ts'
import { Button } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { FormProblem } from '../ui/page.tsx'
import { notify } from '../ui/toast.tsx'
import { type Admin, changeAdmin } from './queries.ts'

interface ProfileFormProps {
  readonly admin: Pick<Admin, 'id' | 'name' | 'nickname'>
  readonly onSaved?: () => void
  /** Buttons beside the main one. */
  readonly children?: ReactNode
}

/** The name for display of an account. The name for the login cannot change. */
export const ProfileForm = ({ admin: { id, name, nickname: stored }, onSaved, children }: ProfileFormProps) => {
  const [nickname, setNickname] = useState(stored)
  const saving = useMutation({
    mutationFn: () => changeAdmin(id, { nickname }),
    onSuccess: () => notify({ title: texts.renamed(name) })
  })
  const errors = fieldErrors(saving.error)
  return (
    <Form onSubmit={() => saving.mutate(undefined, { onSuccess: () => onSaved?.() })}>
      <TextField
        label={texts.nickname}
        hint={texts.nicknameHint}
        autoComplete="off"
        value={nickname}
        error={errors.get('nickname')}
        onChange={(event) => setNickname(event.target.value)}
      />
      <FormProblem error={saving.error} fields={['nickname']} />
      <Actions>
        {children}
        <Button type="submit" variant="primary" disabled={saving.isPending}>
          {texts.saveProfile}
        </Button>
      </Actions>
    </Form>
  )
}

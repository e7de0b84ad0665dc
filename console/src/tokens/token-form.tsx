import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/tokens.ts'
import { Button } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { FormProblem } from '../ui/page.tsx'
import type { TokenDraft } from './draft.ts'
import { ExpiryField } from './expiry-field.tsx'
import { PermissionFields } from './permission-fields.tsx'

const FIELDS = ['name', 'expiresAt', 'integers']

interface TokenFormProps<T> {
  readonly start: TokenDraft
  readonly submitLabel: string
  readonly save: (draft: TokenDraft) => Promise<T>
  /** Called after it, unless the user has left the page. */
  readonly onSaved: (saved: T) => void
  /** Buttons beside the main one. */
  readonly children?: ReactNode
}

/** All properties of a token. */
export const TokenForm = <T,>({ start, submitLabel, save, onSaved, children }: TokenFormProps<T>) => {
  const [first] = useState(start)
  const [draft, setDraft] = useState(first)
  const saving = useMutation({ mutationFn: () => save(draft) })
  const guard = useFormGuard(draft !== first || saving.isPending)
  const errors = fieldErrors(saving.error)
  const edit = (changes: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const finish = (saved: T) => {
    guard.release()
    onSaved(saved)
  }
  return (
    <Form onSubmit={() => saving.mutate(undefined, { onSuccess: finish })}>
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        required
        maxLength={100}
        autoComplete="off"
        value={draft.name}
        error={errors.get('name')}
        onChange={(event) => edit({ name: event.target.value })}
      />
      <ExpiryField value={draft.expires} error={errors.get('expiresAt')} onChange={(expires) => edit({ expires })} />
      <SelectField
        label={texts.integers}
        hint={texts.integersHint}
        value={draft.integers}
        error={errors.get('integers')}
        onChange={(event) => edit({ integers: event.target.value as TokenDraft['integers'] })}
      >
        {Object.entries(texts.integerForms).map(([form, label]) => (
          <option key={form} value={form}>
            {label}
          </option>
        ))}
      </SelectField>
      <PermissionFields tables={draft.tables} actions={draft.actions} onChange={edit} />
      <FormProblem error={saving.error} fields={FIELDS} />
      <Actions>
        {children}
        <Button type="submit" variant="primary" disabled={saving.isPending}>
          {submitLabel}
        </Button>
      </Actions>
      <LeaveDialog guard={guard} />
    </Form>
  )
}

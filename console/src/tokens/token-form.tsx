import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/tokens.ts'
import { Button } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Form, useProblemFocus } from '../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { FormProblem } from '../ui/page.tsx'
import { AccessFields } from './access-fields.tsx'
import { type ClaimDraft, claimProblems } from './claims.ts'
import type { TokenDraft } from './draft.ts'
import { ExpiryField } from './expiry-field.tsx'
import { isLimitPath, LimitFields } from './limit-fields.tsx'

const FIELDS = ['name', 'expiresAt', 'integers']

const pathOf = ({ name }: ClaimDraft) => `claims/${name}`

/** Returns what the service has refused of the claims, by their id. A list has a path for each value. */
const refusedClaims = (claims: readonly ClaimDraft[], errors: ReadonlyMap<string, string>) =>
  claims.flatMap((claim) => {
    const refused = [...errors].find(([path]) => path === pathOf(claim) || path.startsWith(`${pathOf(claim)}/`))
    return refused ? [[claim.id, refused[1]] as const] : []
  })

/** The state of the form: the entered values, their problems, and the request. */
const useTokenForm = <T,>(start: TokenDraft, save: (draft: TokenDraft) => Promise<T>) => {
  const [first] = useState(start)
  const [draft, setDraft] = useState(first)
  const [submissions, setSubmissions] = useState(0)
  const saving = useMutation({ mutationFn: () => save(draft) })
  const errors = fieldErrors(saving.error)
  const own = draft.access === 'role' ? claimProblems(draft.claims) : new Map<number, string>()
  const hasField = (path: string) =>
    FIELDS.includes(path) ||
    isLimitPath(path) ||
    (draft.access === 'role' && (path === 'role' || path.startsWith('claims/')))
  return {
    draft,
    saving,
    errors,
    hasField,
    isDirty: draft !== first,
    box: useProblemFocus(submissions, saving.error),
    claimProblems: new Map([...refusedClaims(draft.claims, errors), ...(submissions > 0 ? own : [])]),
    edit: (changes: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changes })),
    submit: (onSuccess: (saved: T) => void) => {
      setSubmissions(submissions + 1)
      if (own.size === 0) saving.mutate(undefined, { onSuccess })
    }
  }
}

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
  const { draft, saving, errors, hasField, isDirty, box, claimProblems, edit, submit } = useTokenForm(start, save)
  const guard = useFormGuard(isDirty || saving.isPending)
  const finish = (saved: T) => {
    guard.release()
    onSaved(saved)
  }
  return (
    <div ref={box}>
      <Form onSubmit={() => submit(finish)}>
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
        <LimitFields draft={draft} errors={errors} onChange={edit} />
        <AccessFields draft={draft} roleError={errors.get('role')} claimProblems={claimProblems} onChange={edit} />
        <FormProblem error={saving.error} fields={hasField} />
        <Actions>
          {children}
          <Button type="submit" variant="primary" disabled={saving.isPending}>
            {submitLabel}
          </Button>
        </Actions>
        <LeaveDialog guard={guard} />
      </Form>
    </div>
  )
}

import { useMutation } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { fieldErrors, ServiceError } from '../api/errors.ts'
import type { Table } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import { Button } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form, useProblemFocus } from '../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { FormProblem } from '../ui/page.tsx'
import {
  checkGrant,
  fieldsOf,
  type GrantDraft,
  isValid,
  NO_PROBLEMS,
  newGrant,
  type RoleDraft,
  tablesOf,
  toGrants
} from './draft.ts'
import { GrantBox } from './grant-box.tsx'
import type { Grant } from './queries.ts'
import { RoleMatrix } from './role-matrix.tsx'
import styles from './roles.module.css'
import { isShownAt, otherViolations, withViolations } from './violations.ts'

export interface RoleInput {
  readonly name: string
  readonly grants: Grant[]
}

interface RoleFormProps<T> {
  readonly start: RoleDraft
  readonly registered: readonly Table[]
  /** What the service has found at the last save. */
  readonly warnings: readonly string[]
  readonly submitLabel: string
  readonly save: (role: RoleInput) => Promise<T>
  /** Called after it, unless the user has left the page. */
  readonly onSaved: (saved: T) => void
  /** Buttons beside the main one. */
  readonly children?: ReactNode
}

const isNameTaken = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'ROLE_EXISTS'

const errorsOf = (error: unknown) => (isNameTaken(error) ? new Map([['name', error.message]]) : fieldErrors(error))

/** The state of the form: the entered values, their problems, and the request. */
const useRoleForm = <T,>({ start, registered, save }: Pick<RoleFormProps<T>, 'start' | 'registered' | 'save'>) => {
  const [first] = useState(start)
  const [draft, setDraft] = useState(first)
  const [submissions, setSubmissions] = useState(0)
  const grants = toGrants(draft, registered)
  const saving = useMutation({ mutationFn: () => save({ name: draft.name, grants }) })
  const edit = (changes: Partial<RoleDraft>) => setDraft((before) => ({ ...before, ...changes }))
  return {
    draft,
    grants,
    saving,
    edit,
    isTried: submissions > 0,
    isDirty: draft !== first,
    box: useProblemFocus(submissions, saving.error),
    /** Also removes a refusal: its paths are the places that the grants had. */
    editGrants: (changed: readonly GrantDraft[]) => {
      if (saving.isError) saving.reset()
      edit({ grants: changed })
    },
    submit: (onSuccess: (saved: T) => void) => {
      setSubmissions(submissions + 1)
      if (isValid(draft, registered)) saving.mutate(undefined, { onSuccess })
    }
  }
}

interface GrantListProps {
  readonly grants: readonly GrantDraft[]
  readonly registered: readonly Table[]
  readonly isTried: boolean
  readonly violations: ReadonlyMap<string, string>
  readonly onChange: (grants: readonly GrantDraft[]) => void
}

const GrantList = ({ grants, registered, isTried, violations, onChange }: GrantListProps) => {
  const [isOpenAtStart] = useState(grants.length === 1)
  const [stored] = useState(() => new Set(grants.map(({ id }) => id)))
  const problemsOf = (draft: GrantDraft) =>
    isTried ? checkGrant(draft, fieldsOf(tablesOf(draft.tables, registered))) : NO_PROBLEMS
  return (
    <section className={styles.grants} aria-label={texts.grants}>
      <h2>{texts.grants}</h2>
      <p className={styles.hint}>{texts.grantsHint}</p>
      <div>
        {grants.map((draft, index) => (
          <GrantBox
            key={draft.id}
            draft={draft}
            place={index + 1}
            registered={registered}
            startsOpen={isOpenAtStart || !stored.has(draft.id)}
            problems={withViolations(problemsOf(draft), violations, index)}
            refused={otherViolations(violations, index)}
            onChange={(changes) => onChange(grants.with(index, { ...draft, ...changes }))}
            onDuplicate={() => onChange([...grants, newGrant({ ...draft, tables: [] })])}
            onRemove={() => onChange(grants.toSpliced(index, 1))}
          />
        ))}
      </div>
      <Button variant="quiet" onClick={() => onChange([...grants, newGrant()])}>
        <Plus size={14} aria-hidden="true" />
        {texts.addGrant}
      </Button>
    </section>
  )
}

/** The name and the grants of a role, and an overview of what they open. */
export const RoleForm = <T,>({ onSaved, submitLabel, warnings, children, ...props }: RoleFormProps<T>) => {
  const { registered } = props
  const { draft, grants, saving, edit, editGrants, isTried, isDirty, box, submit } = useRoleForm(props)
  const guard = useFormGuard(isDirty || saving.isPending)
  const errors = errorsOf(saving.error)
  const isShown = (path: string) => isShownAt(path, draft.grants.length)
  const finish = (saved: T) => {
    guard.release()
    onSaved(saved)
  }
  return (
    <div ref={box} className={styles.form}>
      <Form onSubmit={() => submit(finish)}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          required
          maxLength={100}
          autoComplete="off"
          value={draft.name}
          error={errors.get('name')}
          onChange={({ target }) => edit({ name: target.value })}
        />
        <GrantList
          grants={draft.grants}
          registered={registered}
          isTried={isTried}
          violations={errors}
          onChange={editGrants}
        />
        {!isNameTaken(saving.error) && <FormProblem error={saving.error} fields={isShown} />}
        <Actions>
          {children}
          <Button type="submit" variant="primary" disabled={saving.isPending}>
            {submitLabel}
          </Button>
        </Actions>
      </Form>
      <RoleMatrix grants={grants} registered={registered} warnings={warnings} />
      <LeaveDialog guard={guard} />
    </div>
  )
}

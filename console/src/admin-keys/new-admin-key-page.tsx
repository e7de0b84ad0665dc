import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useHistoryState } from 'wouter/use-browser-location'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/admin-keys.ts'
import { texts as common } from '../texts/common.ts'
import { ExpiryField } from '../tokens/expiry-field.tsx'
import { SecretPage } from '../tokens/secret-page.tsx'
import styles from '../tokens/tokens.module.css'
import { Button, LinkButton } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { Checkbox, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { FormProblem, Narrow, Page } from '../ui/page.tsx'
import { type AdminScope, type IssuedAdminKey, issueAdminKey } from './queries.ts'

const SCOPES = Object.keys(texts.scopes) as readonly AdminScope[]
const FIELDS = ['name', 'expiresAt']

interface Draft {
  readonly name: string
  /** Local time as `YYYY-MM-DDTHH:mm`. Empty: never. */
  readonly expires: string
  readonly scopes: readonly AdminScope[]
}

const EMPTY: Draft = { name: '', expires: '', scopes: [] }

const issue = ({ name, expires, scopes }: Draft) =>
  issueAdminKey({ name, scopes: [...scopes], expiresAt: expires === '' ? null : new Date(expires).getTime() })

interface ScopesProps {
  readonly chosen: readonly AdminScope[]
  readonly isTried: boolean
  readonly onChange: (scopes: readonly AdminScope[]) => void
}

const Scopes = ({ chosen, isTried, onChange }: ScopesProps) => (
  <fieldset className={styles.claims}>
    <legend>{texts.scopesTitle}</legend>
    <p className={styles.hint}>{texts.scopesHint}</p>
    {SCOPES.map((scope) => (
      <Checkbox
        key={scope}
        label={scope}
        hint={texts.scopes[scope]}
        checked={chosen.includes(scope)}
        onChange={({ target }) =>
          onChange(SCOPES.filter((one) => (one === scope ? target.checked : chosen.includes(one))))
        }
      />
    ))}
    <p className={styles.hint}>{texts.fullAccess}</p>
    {isTried && chosen.length === 0 && (
      <p role="alert" className={styles.problem}>
        {texts.noScope}
      </p>
    )}
  </fieldset>
)

const KeyForm = ({ onIssued }: { readonly onIssued: (issued: IssuedAdminKey) => void }) => {
  const [draft, setDraft] = useState(EMPTY)
  const [isTried, setTried] = useState(false)
  const saving = useMutation({ mutationFn: () => issue(draft) })
  const guard = useFormGuard(draft !== EMPTY || saving.isPending)
  const errors = fieldErrors(saving.error)
  const edit = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const submit = () => {
    setTried(true)
    if (draft.scopes.length === 0) return
    saving.mutate(undefined, {
      onSuccess: (issued) => {
        guard.release()
        onIssued(issued)
      }
    })
  }
  return (
    <Form onSubmit={submit}>
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
      <ExpiryField value={draft.expires} error={errors.get('expiresAt')} onChange={(expires) => edit({ expires })} />
      <Scopes chosen={draft.scopes} isTried={isTried} onChange={(scopes) => edit({ scopes })} />
      <FormProblem error={saving.error} fields={FIELDS} />
      <Actions>
        <LinkButton href="/keys">{common.cancel}</LinkButton>
        <Button type="submit" variant="primary" disabled={saving.isPending}>
          {texts.create}
        </Button>
      </Actions>
      <LeaveDialog guard={guard} />
    </Form>
  )
}

/** Shows the secret of a new key, once. */
const Issued = ({ issued }: { readonly issued: IssuedAdminKey }) => (
  <SecretPage
    texts={texts}
    name={issued.name}
    secret={issued.key}
    list="/keys"
    about={<p className={styles.hint}>{issued.scopes.join(', ')}</p>}
  />
)

/** The secret of the new key is only in the state of this page. */
const NewKey = () => {
  const [issued, setIssued] = useState<IssuedAdminKey>()
  if (issued) return <Issued issued={issued} />
  return (
    <Page title={texts.newKey}>
      <Narrow>
        <KeyForm onIssued={setIssued} />
      </Narrow>
    </Page>
  )
}

/** A new admin key. The command palette opens this page anew, also over itself. */
export const NewAdminKeyPage = () => <NewKey key={useHistoryState<number | null>()} />

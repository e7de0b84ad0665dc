import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { SERVICE_URL } from '../api/client.ts'
import type { Call } from '../snippets/call.ts'
import { exported } from '../snippets/shell.ts'
import { Code, LanguageChoice, Snippet } from '../snippets/snippet.tsx'
import { tablesQuery } from '../tables/queries.ts'
import { texts } from '../texts/tokens.ts'
import { LinkButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { SelectField } from '../ui/field.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { Narrow, Page } from '../ui/page.tsx'
import { isForAll, isSameName, sentenceOf } from './permissions.ts'
import type { IssuedToken, Permissions } from './queries.ts'
import styles from './tokens.module.css'

const callOf = (table: string, { actions }: Permissions): Call => {
  const path = `/data/${encodeURIComponent(table)}`
  return { method: 'GET', path: actions.includes('read') ? `${path}?size=5` : '/data/_me' }
}

const FirstCall = ({ permissions }: { readonly permissions: Permissions }) => {
  const registered = useQuery(tablesQuery)
  const isChosen = (name: string) =>
    isForAll(permissions.tables) || permissions.tables.some((table) => isSameName(table, name))
  const names = (registered.data ?? [])
    .filter(({ name, isPublished }) => isPublished && isChosen(name))
    .map(({ name }) => name)
  const [table, setTable] = useState<string>()
  const shown = table ?? names[0]
  return (
    <>
      {shown !== undefined && (
        <SelectField label={texts.snippetTable} value={shown} onChange={(event) => setTable(event.target.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      )}
      <LanguageChoice />
      <Snippet
        label={texts.firstCall}
        call={shown === undefined ? { method: 'GET', path: '/data/_me' } : callOf(shown, permissions)}
      />
    </>
  )
}

const TypedClient = () => (
  <section className={styles.issued} aria-label={texts.document}>
    <h2>{texts.document}</h2>
    <p className={styles.hint}>{texts.documentHint}</p>
    <Snippet label={texts.document} call={{ method: 'GET', path: '/data/_openapi.json' }} />
    <p>
      <a href={`${SERVICE_URL}/docs`} target="_blank" rel="noreferrer">
        {texts.openDocs}
      </a>{' '}
      <span className={styles.hint}>{texts.openDocsHint}</span>
    </p>
  </section>
)

/** Shows the secret of a new token, once, and how to use it. */
export const IssuedTokenPage = ({ issued }: { readonly issued: IssuedToken }) => {
  const [isCopied, setCopied] = useState(false)
  const guard = useFormGuard(!isCopied)
  const keep = () => setCopied(true)
  return (
    <Page
      title={texts.issuedTitle(issued.name)}
      actions={
        <LinkButton href="/tokens" variant="primary" onClick={guard.release}>
          {texts.done}
        </LinkButton>
      }
    >
      <Narrow>
        <section className={styles.issued} aria-label={texts.secret}>
          <p>{texts.issuedHint}</p>
          <code className={styles.secret} onCopy={keep}>
            {issued.token}
          </code>
          <div className={styles.row}>
            <CopyButton text={issued.token} label={texts.copySecret} onCopied={keep} />
          </div>
          <p className={styles.hint}>{sentenceOf(issued.permissions)}</p>
          {issued.warnings?.map((warning) => (
            <p key={warning} className={styles.warning}>
              {warning}
            </p>
          ))}
        </section>
        <section className={styles.issued} aria-label={texts.firstCall}>
          <h2>{texts.firstCall}</h2>
          <p className={styles.hint}>{texts.environment}</p>
          <Code label={texts.environmentLabel} text={exported(issued.token)} onCopied={keep} />
          <FirstCall permissions={issued.permissions} />
        </section>
        <TypedClient />
      </Narrow>
      <LeaveDialog guard={guard} title={texts.leaveTitle} hint={texts.leaveHint} action={texts.leave} />
    </Page>
  )
}

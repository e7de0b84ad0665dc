import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { SERVICE_URL } from '../api/client.ts'
import { findGrant } from '../roles/grants.ts'
import { type Grant, rolesQuery } from '../roles/queries.ts'
import type { Call } from '../snippets/call.ts'
import { exported } from '../snippets/shell.ts'
import { Code, LanguageChoice, Snippet } from '../snippets/snippet.tsx'
import { type Table, tablesQuery } from '../tables/queries.ts'
import { texts } from '../texts/tokens.ts'
import { SelectField } from '../ui/field.tsx'
import { ACTIONS, accessSentenceOf, isForAll, isSameName, type SingleAction, singleActions } from './permissions.ts'
import type { IssuedToken, Token } from './queries.ts'
import { SecretPage } from './secret-page.tsx'
import styles from './tokens.module.css'

/** A new token with its secret. The response has no role. */
export interface ShownToken {
  readonly issued: IssuedToken
  /** null: the token has permissions. */
  readonly role: (Pick<Token, 'claims'> & { readonly name: string }) | null
}

/** Returns whether permissions or the grants of a role allow an action on a table. */
const allows = ({ permissions }: IssuedToken, grants: readonly Grant[], action: SingleAction, table: Table) => {
  if (findGrant(grants, action, table)) return true
  const { tables } = permissions
  const isChosen = isForAll(tables) || tables.some((name) => isSameName(name, table.name))
  return isChosen && singleActions(permissions).includes(action)
}

const callOf = (table: string, canRead: boolean): Call => {
  const path = `/data/${encodeURIComponent(table)}`
  return { method: 'GET', path: canRead ? `${path}?size=5` : '/data/_me' }
}

const FirstCall = ({ issued, role }: ShownToken) => {
  const registered = useQuery(tablesQuery)
  const roles = useQuery({ ...rolesQuery, enabled: role !== null })
  const grants = roles.data?.find(({ name }) => name === role?.name)?.grants ?? []
  const tables = (registered.data ?? []).filter(
    (table) => table.isPublished && ACTIONS.some((action) => allows(issued, grants, action, table))
  )
  const [chosen, setChosen] = useState<string>()
  const shown = tables.find(({ name }) => name === chosen) ?? tables[0]
  return (
    <>
      {shown !== undefined && (
        <SelectField label={texts.snippetTable} value={shown.name} onChange={(event) => setChosen(event.target.value)}>
          {tables.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      )}
      <LanguageChoice />
      <Snippet
        label={texts.firstCall}
        call={shown === undefined ? callOf('', false) : callOf(shown.name, allows(issued, grants, 'read', shown))}
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
export const IssuedTokenPage = ({ issued, role }: ShownToken) => (
  <SecretPage
    texts={texts}
    name={issued.name}
    secret={issued.token}
    list="/tokens"
    about={
      <>
        <p className={styles.hint}>
          {accessSentenceOf({
            permissions: issued.permissions,
            role: role?.name ?? null,
            claims: role?.claims ?? {}
          })}
        </p>
        {issued.warnings?.map((warning) => (
          <p key={warning} className={styles.warning}>
            {warning}
          </p>
        ))}
      </>
    }
  >
    {(keep) => (
      <>
        <section className={styles.issued} aria-label={texts.firstCall}>
          <h2>{texts.firstCall}</h2>
          <p className={styles.hint}>{texts.environment}</p>
          <Code label={texts.environmentLabel} text={exported(issued.token)} onCopied={keep} />
          <FirstCall issued={issued} role={role} />
        </section>
        <TypedClient />
      </>
    )}
  </SecretPage>
)

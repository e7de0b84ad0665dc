import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { LanguageChoice } from '../snippets/snippet.tsx'
import { type Table, titleOf } from '../tables/queries.ts'
import { TablePage } from '../tables/table-page.tsx'
import { texts } from '../texts/api-page.ts'
import { LinkButton } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Problem } from '../ui/page.tsx'
import styles from './api-page.module.css'
import { CallSection } from './call-section.tsx'
import { callsOf, type Group, type TableCall } from './calls.ts'
import { exampleQuery } from './queries.ts'

const GROUPS: readonly Group[] = ['read', 'write', 'files', 'several']

const Contents = ({ calls }: { readonly calls: readonly TableCall[] }) => (
  <nav className={styles.contents} aria-label={texts.contents}>
    {calls.map(({ name }) => (
      <a
        key={name}
        href={`#${name}`}
        onClick={(event) => {
          // The base of the page is not its address.
          event.preventDefault()
          document.getElementById(name)?.scrollIntoView()
        }}
      >
        {texts.calls[name].title}
      </a>
    ))}
  </nav>
)

const Notes = ({ table: { isPublished, isEditable } }: { readonly table: Table }) => {
  if (!isPublished) return <p className={styles.note}>{texts.unpublished}</p>
  return isEditable ? null : <p className={styles.note}>{texts.readOnly}</p>
}

/** The token is only in the state of this component. */
const Calls = ({ table, calls }: { readonly table: Table; readonly calls: readonly TableCall[] }) => {
  const [token, setToken] = useState('')
  const groups = GROUPS.map((group) => ({ group, members: calls.filter((call) => call.group === group) }))
  return (
    <div className={styles.page}>
      <Contents calls={groups.flatMap(({ members }) => members)} />
      <div className={styles.calls}>
        <p className={styles.text}>{texts.intro}</p>
        <Notes table={table} />
        <div className={styles.token}>
          <TextField
            label={texts.tryToken}
            hint={texts.tryTokenHint}
            isMono
            spellCheck={false}
            autoComplete="off"
            placeholder="rh_…"
            value={token}
            onChange={(event) => setToken(event.target.value.trim())}
          />
        </div>
        <LanguageChoice />
        {groups.map(
          ({ group, members }) =>
            members.length > 0 && (
              <div key={group} className={styles.group}>
                <h2>{texts.groups[group]}</h2>
                {members.map((call) => (
                  <CallSection key={call.name} call={call} table={titleOf(table)} token={token} />
                ))}
              </div>
            )
        )}
      </div>
    </div>
  )
}

const Loaded = ({ table }: { readonly table: Table }) => {
  const example = useQuery(exampleQuery(table.id))
  if (example.isPending) return null
  const calls = callsOf(table, example.data?.rows[0])
  return (
    <>
      {example.isError && <Problem error={example.error} onRetry={() => example.refetch()} />}
      <Calls table={table} calls={calls} />
    </>
  )
}

/** The calls of a table, with its names. */
export const ApiPage = () => (
  <TablePage
    view="api"
    actions={({ name, label }) => (
      <LinkButton href={`/tokens/new?table=${encodeURIComponent(name)}`}>
        {texts.createToken(titleOf({ name, label }))}
      </LinkButton>
    )}
  >
    {(table) => <Loaded table={table} />}
  </TablePage>
)

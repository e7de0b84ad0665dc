import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useParams, useSearchParams } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { texts as common } from '../texts/common.ts'
import { texts as viewTexts } from '../texts/token-view.ts'
import { texts } from '../texts/tokens.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Empty, Narrow, Page, Problem } from '../ui/page.tsx'
import { notify } from '../ui/toast.tsx'
import { emptyDraft, roleOf, toChanges, toDraft, toNewToken } from './draft.ts'
import { ExplainBox } from './explain-box.tsx'
import { IssuedTokenPage, type ShownToken } from './issued-token-page.tsx'
import { changeToken, issueToken, type Token, tokensQuery } from './queries.ts'
import { RevokeDialog } from './revoke-dialog.tsx'
import { TokenForm } from './token-form.tsx'

/** `?table=` chooses a table, and `?role=` a role. The secret of the new token is only in the state of this page. */
const NewTokenPage = () => {
  const [search] = useSearchParams()
  const [shown, setShown] = useState<ShownToken>()
  if (shown) return <IssuedTokenPage {...shown} />
  return (
    <Page title={texts.newToken}>
      <Narrow>
        <TokenForm
          start={emptyDraft(search.getAll('table'), search.get('role'))}
          submitLabel={texts.create}
          save={async (draft) => ({ issued: await issueToken(toNewToken(draft)), role: roleOf(draft) })}
          onSaved={setShown}
        >
          <LinkButton href="/tokens">{common.cancel}</LinkButton>
        </TokenForm>
      </Narrow>
    </Page>
  )
}

const EditTokenPage = ({ token }: { readonly token: Token }) => {
  const [, navigate] = useLocation()
  const [start] = useState(() => toDraft(token))
  const [isRevoking, setRevoking] = useState(false)
  return (
    <Page
      title={token.name}
      sub={<code>{token.token_prefix}</code>}
      actions={
        <>
          <LinkButton href={`/tokens/${token.id}/view`}>{viewTexts.view}</LinkButton>
          <Button onClick={() => setRevoking(true)}>{texts.revoke} …</Button>
        </>
      }
    >
      <Narrow>
        <TokenForm
          start={start}
          submitLabel={common.save}
          save={async (draft) => {
            const warnings = await changeToken(token.id, toChanges(draft, start))
            notify({ title: texts.saved(draft.name), description: warnings.join(' ') })
          }}
          onSaved={() => navigate('/tokens')}
        >
          <LinkButton href="/tokens">{common.cancel}</LinkButton>
        </TokenForm>
        <ExplainBox id={token.id} />
      </Narrow>
      {isRevoking && (
        <RevokeDialog token={token} leave={() => navigate('/tokens')} onClose={() => setRevoking(false)} />
      )}
    </Page>
  )
}

const StoredTokenPage = ({ id }: { readonly id: number }) => {
  const tokens = useQuery(tokensQuery)
  const token = tokens.data?.find((other) => other.id === id)
  if (token) return <EditTokenPage key={id} token={token} />
  return (
    <Page title={texts.token}>
      {tokens.isError && <Problem error={tokens.error} onRetry={() => tokens.refetch()} />}
      {tokens.isSuccess && (
        <Empty title={texts.notFound}>
          <LinkButton href="/tokens">{texts.toTokens}</LinkButton>
        </Empty>
      )}
    </Page>
  )
}

/** A new token, or the properties of one. The command palette opens this page anew, also over itself. */
export const TokenPage = () => {
  const { id } = useParams<{ id: string }>()
  const visit = useHistoryState<number | null>()
  return id === 'new' ? <NewTokenPage key={visit} /> : <StoredTokenPage id={Number(id)} />
}

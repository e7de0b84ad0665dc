import { useState } from 'react'
import { useLocation, useParams, useSearchParams } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { texts as common } from '../texts/common.ts'
import { texts as viewTexts } from '../texts/token-view.ts'
import { texts } from '../texts/tokens.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Narrow, Page } from '../ui/page.tsx'
import { formatTime } from '../ui/time.tsx'
import { notify } from '../ui/toast.tsx'
import { emptyDraft, roleOf, toChanges, toDraft, toNewToken } from './draft.ts'
import { ExplainBox } from './explain-box.tsx'
import { IssuedTokenPage, type ShownToken } from './issued-token-page.tsx'
import { changeToken, issueToken, type RotatedToken, type Token } from './queries.ts'
import { RevokeDialog } from './revoke-dialog.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { TokenForm } from './token-form.tsx'
import { TokenUses } from './token-uses.tsx'
import { WithToken } from './with-token.tsx'

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

/** Returns what shows the new secret of a token, as that of a new token. */
const shownAfter = ({ token: secret, tokenPrefix }: RotatedToken, token: Token): ShownToken => ({
  issued: { id: token.id, name: token.name, token: secret, tokenPrefix, permissions: token.permissions },
  role: token.role === null ? null : { name: token.role, claims: token.claims }
})

const EditTokenPage = ({ token }: { readonly token: Token }) => {
  const [, navigate] = useLocation()
  const [start] = useState(() => toDraft(token))
  const [isRevoking, setRevoking] = useState(false)
  const [isRotating, setRotating] = useState(false)
  const [rotated, setRotated] = useState<ShownToken>()
  if (rotated) return <IssuedTokenPage {...rotated} />
  return (
    <Page
      title={token.name}
      sub={<code>{token.token_prefix}</code>}
      actions={
        <>
          <LinkButton href={`/tokens/${token.id}/view`}>{viewTexts.view}</LinkButton>
          <Button onClick={() => setRotating(true)}>{texts.rotate} …</Button>
          <Button onClick={() => setRevoking(true)}>{texts.revoke} …</Button>
        </>
      }
    >
      <Narrow>
        {token.previous_valid_until !== null && <p>{texts.previousSecret(formatTime(token.previous_valid_until))}</p>}
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
        <TokenUses id={token.id} />
      </Narrow>
      {isRotating && (
        <RotateDialog
          token={token}
          onRotated={(secret) => setRotated(shownAfter(secret, token))}
          onClose={() => setRotating(false)}
        />
      )}
      {isRevoking && (
        <RevokeDialog token={token} leave={() => navigate('/tokens')} onClose={() => setRevoking(false)} />
      )}
    </Page>
  )
}

/** A new token, or the properties of one. The command palette opens this page anew, also over itself. */
export const TokenPage = () => {
  const { id } = useParams<{ id: string }>()
  const visit = useHistoryState<number | null>()
  if (id === 'new') return <NewTokenPage key={visit} />
  return <WithToken id={Number(id)}>{(token) => <EditTokenPage key={token.id} token={token} />}</WithToken>
}

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ServiceError } from '../api/errors.ts'
import { texts } from '../texts/tokens.ts'
import { LinkButton } from '../ui/button.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { type Token, tokenQuery } from './queries.ts'

/** An id that is no number is refused. */
const hasNoToken = (error: unknown) => error instanceof ServiceError && (error.status === 404 || error.status === 400)

interface WithTokenProps {
  readonly id: number
  readonly children: (token: Token) => ReactNode
}

/** Shows a page of the token with this id, or that there is none. */
export const WithToken = ({ id, children }: WithTokenProps) => {
  const token = useQuery(tokenQuery(id))
  if (token.data) return children(token.data)
  const isMissing = hasNoToken(token.error)
  return (
    <Page title={texts.token}>
      {token.isError && !isMissing && <Problem error={token.error} onRetry={() => token.refetch()} />}
      {isMissing && (
        <Empty title={texts.notFound}>
          <LinkButton href="/tokens">{texts.toTokens}</LinkButton>
        </Empty>
      )}
    </Page>
  )
}

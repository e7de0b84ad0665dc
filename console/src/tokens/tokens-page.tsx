import { useQuery } from '@tanstack/react-query'
import { texts } from '../texts/tokens.ts'
import { LinkButton } from '../ui/button.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { tokensQuery } from './queries.ts'
import { TokenList } from './token-list.tsx'

const NewToken = () => (
  <LinkButton href="/tokens/new" variant="primary">
    {texts.newToken}
  </LinkButton>
)

const NoTokens = () => (
  <Empty title={texts.emptyTitle}>
    <p>{texts.empty}</p>
    <NewToken />
  </Empty>
)

export const TokensPage = () => {
  const tokens = useQuery(tokensQuery)
  const hasTokens = tokens.data !== undefined && tokens.data.length > 0
  return (
    <Page title={texts.title} sub={tokens.data?.length} actions={hasTokens && <NewToken />}>
      {tokens.isError && <Problem error={tokens.error} onRetry={() => tokens.refetch()} />}
      {hasTokens && <TokenList tokens={tokens.data} />}
      {tokens.data?.length === 0 && <NoTokens />}
    </Page>
  )
}

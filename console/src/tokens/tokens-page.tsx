import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { texts } from '../texts/tokens.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Input } from '../ui/input.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { useTypedText } from '../ui/typed-text.ts'
import { tokenPagesQuery } from './queries.ts'
import { TokenList } from './token-list.tsx'
import styles from './tokens.module.css'

/** The limit of the service. */
const MAX_SEARCH = 1000

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

const Search = ({ value, onChange }: { readonly value: string; readonly onChange: (text: string) => void }) => {
  const [text, setText] = useTypedText(value, onChange)
  return (
    <div className={styles.search}>
      <Input
        type="search"
        aria-label={texts.search}
        placeholder={texts.search}
        maxLength={MAX_SEARCH}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </div>
  )
}

const NoMatch = ({ onClear }: { readonly onClear: () => void }) => (
  <Empty title={texts.noMatch}>
    <Button onClick={onClear}>{texts.showAll}</Button>
  </Empty>
)

/** The tokens, page by page. */
export const TokensPage = () => {
  const [search, setSearch] = useState('')
  const query = useInfiniteQuery(tokenPagesQuery(search))
  const tokens = query.data?.pages.flat() ?? []
  const isEmpty = query.isSuccess && !query.isPlaceholderData && tokens.length === 0
  const hasTokens = tokens.length > 0 || search !== ''
  const retry = () => (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch())
  return (
    <Page
      title={texts.title}
      sub={query.isSuccess ? texts.count(tokens.length, query.hasNextPage) : undefined}
      actions={hasTokens && <NewToken />}
    >
      {hasTokens && <Search value={search} onChange={setSearch} />}
      {tokens.length > 0 && <TokenList tokens={tokens} />}
      {query.isError && <Problem error={query.error} onRetry={retry} />}
      {isEmpty && (search === '' ? <NoTokens /> : <NoMatch onClear={() => setSearch('')} />)}
      {query.hasNextPage && (
        <div className={styles.more}>
          <Button disabled={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            {texts.more}
          </Button>
        </div>
      )}
    </Page>
  )
}

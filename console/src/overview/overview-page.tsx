import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { tablesQuery } from '../tables/queries.ts'
import { texts } from '../texts/overview.ts'
import { firstTokensQuery, MAX_TOKENS } from '../tokens/queries.ts'
import { LinkButton } from '../ui/button.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import styles from './overview.module.css'
import { statusQuery } from './queries.ts'
import { ServiceFacts, SlowScans } from './service-facts.tsx'
import { TableCounts } from './table-counts.tsx'
import { TokenUses } from './token-uses.tsx'

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className={styles.section}>
    <h2>{title}</h2>
    {children}
  </section>
)

const FirstSteps = () => (
  <Empty title={texts.firstTitle}>
    <p>{texts.firstHint}</p>
    <div className={styles.start}>
      <LinkButton href="/tables/import" variant="primary">
        {texts.importTables}
      </LinkButton>
      <LinkButton href="/tables/new">{texts.newTable}</LinkButton>
      <LinkButton href="/tables/from-file">{texts.fromFile}</LinkButton>
    </div>
  </Empty>
)

/** What the service has and does: tables with their sizes, uses of tokens, the state of the service. */
export const OverviewPage = () => {
  const tables = useQuery(tablesQuery)
  const tokens = useQuery(firstTokensQuery)
  const status = useQuery(statusQuery)
  return (
    <Page title={texts.title}>
      <div className={styles.columns}>
        <div className={styles.column}>
          <Section title={texts.tables}>
            {tables.isError && <Problem error={tables.error} onRetry={() => tables.refetch()} />}
            {tables.data?.length === 0 && <FirstSteps />}
            {tables.data && tables.data.length > 0 && <TableCounts tables={tables.data} />}
          </Section>
          <Section title={texts.tokens}>
            {tokens.isError && <Problem error={tokens.error} onRetry={() => tokens.refetch()} />}
            {tokens.data && <TokenUses tokens={tokens.data} />}
            {tokens.data?.length === MAX_TOKENS && <p className={styles.note}>{texts.firstTokens(MAX_TOKENS)}</p>}
          </Section>
        </div>
        <div className={styles.column}>
          {status.isError && <Problem error={status.error} onRetry={() => status.refetch()} />}
          {status.data && (
            <>
              <Section title={texts.service}>
                <ServiceFacts status={status.data} />
              </Section>
              <Section title={texts.slowScans}>
                <SlowScans scans={status.data.slowScans} />
              </Section>
            </>
          )}
        </div>
      </div>
    </Page>
  )
}

import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { texts } from '../texts/audit.ts'
import { Button, DownloadLink } from '../ui/button.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import styles from './audit.module.css'
import { AuditDialog } from './audit-dialog.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { AuditList } from './audit-list.tsx'
import { useAuditFilter } from './filter.ts'
import { type AuditRow, auditQuery, exportUrl } from './queries.ts'

/** Who changed what, page by page. */
export const AuditPage = () => {
  const { filter, change, clear } = useAuditFilter()
  const audit = useInfiniteQuery(auditQuery(filter))
  const [open, setOpen] = useState<AuditRow>()
  const rows = audit.data?.pages.flatMap((page) => page.rows) ?? []
  const retry = () => (audit.isFetchNextPageError ? audit.fetchNextPage() : audit.refetch())
  return (
    <Page title={texts.title} actions={<DownloadLink href={exportUrl(filter)}>{texts.download}</DownloadLink>}>
      <AuditFilters filter={filter} onChange={change} />
      {rows.length > 0 && <AuditList rows={rows} onOpen={setOpen} />}
      {audit.isError && <Problem error={audit.error} onRetry={retry} />}
      {audit.isSuccess && rows.length === 0 && (
        <Empty title={texts.none}>
          <Button onClick={clear}>{texts.removeFilters}</Button>
        </Empty>
      )}
      <div className={styles.end}>
        {audit.hasNextPage && (
          <Button disabled={audit.isFetchingNextPage} onClick={() => audit.fetchNextPage()}>
            {texts.more}
          </Button>
        )}
        <p className={styles.note}>{texts.listHint}</p>
      </div>
      {open && <AuditDialog row={open} onClose={() => setOpen(undefined)} />}
    </Page>
  )
}

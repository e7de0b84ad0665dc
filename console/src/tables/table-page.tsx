import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { texts } from '../texts/tables.ts'
import { Page, Problem } from '../ui/page.tsx'
import { type Table, tableQuery, titleOf } from './queries.ts'
import styles from './table-page.module.css'

const VIEWS = ['records', 'structure', 'api'] as const
type TableView = (typeof VIEWS)[number]

const pathOf = (id: number, view: TableView) => (view === 'records' ? `/tables/${id}` : `/tables/${id}/${view}`)

const Views = ({ id, view }: { readonly id: number; readonly view: TableView }) => (
  <nav className={styles.views} aria-label={texts.viewsOfTable}>
    {VIEWS.map((name) => (
      <Link key={name} href={pathOf(id, name)} aria-current={name === view ? 'page' : undefined}>
        {texts.views[name]}
      </Link>
    ))}
  </nav>
)

interface TablePageProps {
  readonly view: TableView
  readonly actions?: (table: Table) => ReactNode
  /** false: the content uses the whole area, as the grid does. */
  readonly isPadded?: boolean
  readonly children: (table: Table) => ReactNode
}

/** A page about the table of the path: its title, the choice between its views, and one of them. */
export const TablePage = ({ view, actions, isPadded = true, children }: TablePageProps) => {
  const { id } = useParams<{ id: string }>()
  const table = useQuery(tableQuery(Number(id)))
  // A failed refetch keeps the page: a form may be open.
  if (table.isError && !table.data) {
    return (
      <Page title={texts.table}>
        <Problem error={table.error} onRetry={() => table.refetch()} />
      </Page>
    )
  }
  if (!table.data) return null
  return (
    <Page
      key={id}
      title={titleOf(table.data)}
      sub={<Views id={table.data.id} view={view} />}
      actions={actions?.(table.data)}
      isPadded={isPadded}
    >
      {children(table.data)}
    </Page>
  )
}

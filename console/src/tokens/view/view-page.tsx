import { useQuery } from '@tanstack/react-query'
import { Eye } from 'lucide-react'
import { type ReactNode, useEffect, useMemo } from 'react'
import { useLocation, useParams, useSearchParams } from 'wouter'
import { isServiceError } from '../../api/client.ts'
import { RecordsView } from '../../records/records-view.tsx'
import { SourceProvider } from '../../records/source.ts'
import { texts } from '../../texts/token-view.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Select } from '../../ui/input.tsx'
import { Empty, Page, Problem } from '../../ui/page.tsx'
import { WithToken } from '../with-token.tsx'
import styles from './view-page.module.css'
import { createViewSource, leaveView, viewedTablesQuery } from './view-source.ts'

const TableChoice = ({
  names,
  chosen,
  path
}: {
  readonly names: readonly string[]
  readonly chosen: string
  readonly path: string
}) => {
  const [, navigate] = useLocation()
  return (
    <Select
      isCompact
      aria-label={texts.table}
      value={chosen}
      onChange={({ target }) => navigate(`${path}?table=${encodeURIComponent(target.value)}`)}
    >
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </Select>
  )
}

const ViewProblem = ({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) =>
  isServiceError(error) && error.status === 401 ? (
    <Empty title={texts.ended} />
  ) : (
    <Problem error={error} onRetry={onRetry} />
  )

/** The grid of a table, as the token sees it. */
const ViewedTable = ({ id, name }: { readonly id: number; readonly name: string }) => {
  const source = useMemo(() => createViewSource(id, name), [id, name])
  const tables = useQuery(source.tables)
  const [table] = tables.data ?? []
  if (tables.isError) return <ViewProblem error={tables.error} onRetry={() => tables.refetch()} />
  return (
    table && (
      <SourceProvider value={source}>
        <RecordsView table={table} />
      </SourceProvider>
    )
  )
}

interface FrameProps {
  readonly id: number
  /** Empty: not known yet. */
  readonly token: string
  readonly choice?: ReactNode
  readonly children: ReactNode
}

const Frame = ({ id, token, choice, children }: FrameProps) => (
  <Page title={texts.title(token)} sub={choice} isPadded={false}>
    <div className={styles.banner} role="note">
      <Eye size={16} aria-hidden="true" />
      <span>
        <bdi>{texts.banner(token)}</bdi>
      </span>
      <LinkButton href={`/tokens/${id}`}>{texts.leave}</LinkButton>
    </div>
    {children}
  </Page>
)

const ViewedToken = ({ id, token }: { readonly id: number; readonly token: string }) => {
  const names = useQuery(viewedTablesQuery(id))
  const [search] = useSearchParams()
  const chosen = search.get('table') ?? names.data?.[0]
  if (names.isError) {
    return (
      <Frame id={id} token={token}>
        <ViewProblem error={names.error} onRetry={() => names.refetch()} />
      </Frame>
    )
  }
  if (!names.data)
    return (
      <Frame id={id} token={token}>
        {null}
      </Frame>
    )
  const choice = chosen !== undefined && names.data.length > 0 && (
    <TableChoice names={names.data} chosen={chosen} path={`/tokens/${id}/view`} />
  )
  return (
    <Frame id={id} token={token} choice={choice}>
      {chosen === undefined ? (
        <div className={styles.empty}>
          <Empty title={texts.noTables}>
            <p>{texts.noTablesHint}</p>
          </Empty>
        </div>
      ) : (
        <ViewedTable key={chosen} id={id} name={chosen} />
      )}
    </Frame>
  )
}

/** The records as a token sees them. `?table=` names the table. */
export const ViewPage = () => {
  const id = Number(useParams<{ id: string }>().id)
  useEffect(() => () => leaveView(id), [id])
  return <WithToken id={id}>{(token) => <ViewedToken key={id} id={id} token={token.name} />}</WithToken>
}

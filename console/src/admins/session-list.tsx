import { useMutation, useQuery } from '@tanstack/react-query'
import { texts } from '../texts/admins.ts'
import { Button } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Problem } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { notify, notifyError } from '../ui/toast.tsx'
import styles from './admins.module.css'
import { endSession, type Session, sessionsQuery } from './queries.ts'
import { describeClient } from './user-agent.ts'

const { client, address, since, ends, actions } = texts.sessionColumns

const COLUMNS = [
  { key: 'client', label: client },
  { key: 'address', label: address, isSecondary: true },
  { key: 'since', label: since },
  { key: 'ends', label: ends, isSecondary: true },
  { key: 'actions', label: actions, isLabelHidden: true }
]

const nameOf = ({ user_agent }: Session) => describeClient(user_agent) ?? texts.unknownClient

const EndButton = ({ session }: { readonly session: Session }) => {
  const name = nameOf(session)
  const end = useMutation({
    mutationFn: () => endSession(session.id),
    onSuccess: () => notify({ title: texts.sessionEnded(name) }),
    onError: (error) => notifyError(texts.sessionNotEnded(name), error)
  })
  return (
    <Button aria-label={texts.endSession(name)} disabled={end.isPending} onClick={() => end.mutate()}>
      {texts.end}
    </Button>
  )
}

const cellOf = (session: Session, column: string) => {
  if (column === 'address') return <code>{session.address}</code>
  if (column === 'since') return <Time value={session.created_at} />
  if (column === 'ends') return <Time value={session.expires_at} />
  if (column === 'actions') return !session.is_current && <EndButton session={session} />
  return (
    <span title={session.user_agent} dir="auto">
      {nameOf(session)} {session.is_current && <span className={styles.you}>({texts.thisSession})</span>}
    </span>
  )
}

/** The sessions of one's own account. */
export const SessionList = () => {
  const { data: sessions = [], error, refetch } = useQuery(sessionsQuery)
  if (error) return <Problem error={error} onRetry={() => refetch()} />
  return <ListTable label={texts.sessions} columns={COLUMNS} rows={sessions} keyOf={({ id }) => id} cell={cellOf} />
}

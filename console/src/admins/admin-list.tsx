import { useQuery } from '@tanstack/react-query'
import { KeyRound, Pencil, Trash2 } from 'lucide-react'
import { useLocation } from 'wouter'
import { accountQuery } from '../session/account.ts'
import { texts } from '../texts/admins.ts'
import { IconButton } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Time } from '../ui/time.tsx'
import type { AdminTask } from './admin-dialogs.tsx'
import styles from './admins.module.css'
import type { Admin } from './queries.ts'

const COLUMNS = [
  { key: 'name', label: texts.columns.name },
  { key: 'nickname', label: texts.columns.nickname },
  { key: 'password', label: texts.columns.password, isSecondary: true },
  { key: 'created', label: texts.columns.created, isSecondary: true },
  { key: 'actions', label: texts.columns.actions, isLabelHidden: true }
]

type OnTask = (task: AdminTask) => void

/** One's own name and password are changed on the page of the account. */
const RowActions = ({ admin, isOwn, onTask }: { admin: Admin; isOwn: boolean; onTask: OnTask }) => {
  const [, navigate] = useLocation()
  const edit = () => (isOwn ? navigate('/account') : onTask({ kind: 'edit', admin }))
  const reset = () => (isOwn ? navigate('/account') : onTask({ kind: 'reset', admin }))
  return (
    <>
      <IconButton label={texts.edit(admin.name)} onClick={edit}>
        <Pencil size={14} aria-hidden="true" />
      </IconButton>
      <IconButton label={texts.reset(admin.name)} onClick={reset}>
        <KeyRound size={14} aria-hidden="true" />
      </IconButton>
      <IconButton label={texts.delete(admin.name)} onClick={() => onTask({ kind: 'delete', admin, isOwn })}>
        <Trash2 size={14} aria-hidden="true" />
      </IconButton>
    </>
  )
}

const PasswordState = ({ mustChange }: { readonly mustChange: boolean }) =>
  mustChange ? <span className={styles.pending}>{texts.isFirstPassword}</span> : <span>{texts.isOwnPassword}</span>

export const AdminList = ({ admins, onTask }: { readonly admins: readonly Admin[]; readonly onTask: OnTask }) => {
  const account = useQuery(accountQuery)
  const isOwn = (admin: Admin) => admin.id === account.data?.id
  const cell = (admin: Admin, column: string) => {
    if (column === 'nickname') return <span dir="auto">{admin.nickname}</span>
    if (column === 'password') return <PasswordState mustChange={admin.must_change_password === 1} />
    if (column === 'created') return <Time value={admin.created_at} />
    if (column === 'actions') return <RowActions admin={admin} isOwn={isOwn(admin)} onTask={onTask} />
    return (
      <>
        <span dir="auto">{admin.name}</span> {isOwn(admin) && <span className={styles.you}>({texts.you})</span>}
      </>
    )
  }
  return <ListTable label={texts.title} columns={COLUMNS} rows={admins} keyOf={({ id }) => id} cell={cell} />
}

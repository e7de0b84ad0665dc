import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { texts } from '../texts/roles.ts'
import { IconButton } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { formatCount } from '../ui/size.ts'
import { DeleteRoleDialog } from './delete-role-dialog.tsx'
import type { Role } from './queries.ts'
import styles from './roles.module.css'

const COLUMNS = [
  { key: 'name', label: texts.columns.name },
  { key: 'grants', label: texts.columns.grants },
  { key: 'tokens', label: texts.columns.tokens },
  { key: 'warnings', label: texts.columns.warnings, isSecondary: true },
  { key: 'actions', label: texts.actions, isLabelHidden: true }
]

const MAX_WARNINGS = 2

const Warnings = ({ warnings }: Pick<Role, 'warnings'>) => (
  <span className={styles.warnings} title={warnings.join('\n')}>
    {warnings.slice(0, MAX_WARNINGS).map((warning) => (
      <span key={warning}>{warning}</span>
    ))}
    {warnings.length > MAX_WARNINGS && <span>{texts.moreWarnings(warnings.length - MAX_WARNINGS)}</span>}
  </span>
)

const RowActions = ({ role, onDelete }: { readonly role: Role; readonly onDelete: () => void }) => {
  const [, navigate] = useLocation()
  return (
    <>
      <IconButton label={texts.edit(role.name)} onClick={() => navigate(`/roles/${role.id}`)}>
        <Pencil size={14} aria-hidden="true" />
      </IconButton>
      <IconButton label={texts.deleteNamed(role.name)} onClick={onDelete}>
        <Trash2 size={14} aria-hidden="true" />
      </IconButton>
    </>
  )
}

export const RoleList = ({ roles }: { readonly roles: readonly Role[] }) => {
  const [deleted, setDeleted] = useState<Role>()
  const cell = (role: Role, column: string) => {
    if (column === 'name') return <Link href={`/roles/${role.id}`}>{role.name}</Link>
    if (column === 'grants') return formatCount(role.grants.length)
    if (column === 'tokens') return formatCount(role.tokens)
    if (column === 'warnings') return <Warnings warnings={role.warnings} />
    return <RowActions role={role} onDelete={() => setDeleted(role)} />
  }
  return (
    <>
      <ListTable label={texts.title} columns={COLUMNS} rows={roles} keyOf={({ id }) => id} cell={cell} />
      {deleted && <DeleteRoleDialog role={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  )
}

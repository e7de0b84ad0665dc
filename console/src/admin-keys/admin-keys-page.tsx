import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { texts } from '../texts/admin-keys.ts'
import styles from '../tokens/tokens.module.css'
import { IconButton, LinkButton } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { notify } from '../ui/toast.tsx'
import { type AdminKey, adminKeysQuery, revokeAdminKey } from './queries.ts'

const COLUMNS = [
  { key: 'name', label: texts.columns.name },
  { key: 'prefix', label: texts.columns.prefix, isSecondary: true },
  { key: 'scopes', label: texts.columns.scopes },
  { key: 'lastUsed', label: texts.columns.lastUsed, isSecondary: true },
  { key: 'expires', label: texts.columns.expires, isSecondary: true },
  { key: 'actions', label: texts.actions, isLabelHidden: true }
]

const NewKey = () => (
  <LinkButton href="/keys/new" variant="primary">
    {texts.newKey}
  </LinkButton>
)

interface RevokeProps {
  readonly adminKey: AdminKey
  readonly onClose: () => void
}

const RevokeDialog = ({ adminKey: { id, name, key_prefix }, onClose }: RevokeProps) => (
  <ConfirmDialog
    title={texts.revokeTitle(name)}
    hint={texts.revokeHint(key_prefix)}
    action={texts.revokeDo(name)}
    run={() => revokeAdminKey(id)}
    onDone={() => notify({ title: texts.revoked(name) })}
    onClose={onClose}
  />
)

const Expiry = ({ time }: { readonly time: number | null }) => (
  <span className={classes(styles.expiryTime, time !== null && time <= Date.now() && styles.expired)}>
    <Time value={time} />
  </span>
)

const List = ({ keys }: { readonly keys: readonly AdminKey[] }) => {
  const [revoked, setRevoked] = useState<AdminKey>()
  const cell = (key: AdminKey, column: string) => {
    if (column === 'name') return <bdi>{key.name}</bdi>
    if (column === 'prefix') return <code className={styles.prefix}>{key.key_prefix}</code>
    if (column === 'scopes') return key.scopes.join(', ')
    if (column === 'lastUsed') return <Time value={key.last_used_at} />
    if (column === 'expires') return <Expiry time={key.expires_at} />
    return (
      <IconButton label={texts.revokeNamed(key.name)} onClick={() => setRevoked(key)}>
        <Trash2 size={14} aria-hidden="true" />
      </IconButton>
    )
  }
  return (
    <>
      <ListTable label={texts.title} columns={COLUMNS} rows={keys} keyOf={({ id }) => id} cell={cell} />
      {revoked && <RevokeDialog adminKey={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  )
}

/** The keys with which scripts use /admin. */
export const AdminKeysPage = () => {
  const keys = useQuery(adminKeysQuery)
  const hasKeys = keys.data !== undefined && keys.data.length > 0
  return (
    <Page title={texts.title} sub={keys.data?.length} actions={hasKeys && <NewKey />}>
      {keys.isError && <Problem error={keys.error} onRetry={() => keys.refetch()} />}
      {hasKeys && <List keys={keys.data} />}
      {keys.data?.length === 0 && (
        <Empty title={texts.emptyTitle}>
          <p>{texts.empty}</p>
          <NewKey />
        </Empty>
      )}
    </Page>
  )
}

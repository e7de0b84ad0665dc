import { useMutation } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { texts } from '../texts/tokens.ts'
import { IconButton } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { ListTable } from '../ui/list-table.tsx'
import { Switch } from '../ui/switch.tsx'
import { Time } from '../ui/time.tsx'
import { notifyError } from '../ui/toast.tsx'
import { accessOf, accessSentenceOf } from './permissions.ts'
import { changeToken, type Token } from './queries.ts'
import { RevokeDialog } from './revoke-dialog.tsx'
import styles from './tokens.module.css'

const COLUMNS = [
  { key: 'name', label: texts.columns.name },
  { key: 'prefix', label: texts.columns.prefix, isSecondary: true },
  { key: 'scope', label: texts.columns.scope },
  { key: 'lastUsed', label: texts.columns.lastUsed, isSecondary: true },
  { key: 'expires', label: texts.columns.expires, isSecondary: true },
  { key: 'active', label: texts.columns.active },
  { key: 'actions', label: texts.actions, isLabelHidden: true }
]

const ActiveSwitch = ({ token: { id, name, is_active } }: { readonly token: Token }) => {
  const change = useMutation({
    mutationFn: (isActive: boolean) => changeToken(id, { isActive }),
    onError: (error) => notifyError(texts.notChanged(name), error)
  })
  return (
    <Switch
      label={texts.isActive(name)}
      checked={change.isPending ? change.variables : is_active}
      onChange={(event) => change.mutate(event.target.checked)}
    />
  )
}

const Access = ({ token }: { readonly token: Token }) => (
  <span title={accessSentenceOf(token)}>
    <bdi>{accessOf(token)}</bdi>
    {token.role !== null && <bdi className={styles.claimsText}>{texts.claimsOf(token.claims)}</bdi>}
  </span>
)

const Expiry = ({ time }: { readonly time: number | null }) => (
  <span className={classes(styles.expiryTime, time !== null && time <= Date.now() && styles.expired)}>
    <Time value={time} />
  </span>
)

const RowActions = ({ token, onRevoke }: { readonly token: Token; readonly onRevoke: () => void }) => {
  const [, navigate] = useLocation()
  return (
    <>
      <IconButton label={texts.edit(token.name)} onClick={() => navigate(`/tokens/${token.id}`)}>
        <Pencil size={14} aria-hidden="true" />
      </IconButton>
      <IconButton label={texts.revokeNamed(token.name)} onClick={onRevoke}>
        <Trash2 size={14} aria-hidden="true" />
      </IconButton>
    </>
  )
}

export const TokenList = ({ tokens }: { readonly tokens: readonly Token[] }) => {
  const [revoked, setRevoked] = useState<Token>()
  const cell = (token: Token, column: string) => {
    if (column === 'name') return <Link href={`/tokens/${token.id}`}>{token.name}</Link>
    if (column === 'prefix') return <code className={styles.prefix}>{token.token_prefix}</code>
    if (column === 'scope') return <Access token={token} />
    if (column === 'lastUsed') return <Time value={token.last_used_at} />
    if (column === 'expires') return <Expiry time={token.expires_at} />
    if (column === 'active') return <ActiveSwitch token={token} />
    return <RowActions token={token} onRevoke={() => setRevoked(token)} />
  }
  return (
    <>
      <ListTable label={texts.title} columns={COLUMNS} rows={tokens} keyOf={({ id }) => id} cell={cell} />
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  )
}

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { notify } from '../../ui/toast.tsx'
import { countQuery, forgetTable, type Table, tableRemoved } from '../queries.ts'
import { removeTable } from './calls.ts'
import styles from './structure.module.css'

interface RemovalDialogProps {
  readonly table: Table
  readonly onClose: () => void
}

/** Returns what removes the table, and what leaves its page. The page shows the table as long as it is open. */
const useRemoval = ({ id, name }: Table, drop: boolean) => {
  const [, navigate] = useLocation()
  return {
    run: () => removeTable(id, drop),
    onDone: () => {
      tableRemoved(id)
      notify({ title: drop ? texts.dropped(name) : texts.unregistered(name) })
    },
    leave: () => {
      navigate('/')
      forgetTable(id)
    }
  }
}

const UnregisterDialog = ({ table, onClose }: RemovalDialogProps) => (
  <ConfirmDialog
    title={texts.unregisterTitle(table.name)}
    hint={texts.unregisterHint}
    action={texts.unregister(table.name)}
    {...useRemoval(table, false)}
    onClose={onClose}
  />
)

const DropDialog = ({ table, onClose }: RemovalDialogProps) => {
  const count = useQuery(countQuery(table.id))
  return (
    <ConfirmDialog
      title={texts.dropTitle(table.name)}
      hint={texts.dropHint(count.data)}
      action={texts.dropTable(table.name)}
      typedName={table.name}
      {...useRemoval(table, true)}
      onClose={onClose}
    />
  )
}

/** How a table leaves the API, or the database. */
export const RemovalSection = ({ table }: { readonly table: Table }) => {
  const [open, setOpen] = useState<'unregister' | 'drop' | null>(null)
  const close = () => setOpen(null)
  return (
    <section className={styles.section}>
      <header>
        <h2>{texts.removal}</h2>
      </header>
      <div className={styles.removal}>
        <p>{texts.unregisterHint}</p>
        <Button onClick={() => setOpen('unregister')}>{texts.unregister(table.name)}</Button>
        {table.kind === 'table' && (
          <>
            <p>{texts.dropSectionHint}</p>
            <Button variant="danger" onClick={() => setOpen('drop')}>
              {texts.dropTable(table.name)}
            </Button>
          </>
        )}
      </div>
      {open === 'unregister' && <UnregisterDialog table={table} onClose={close} />}
      {open === 'drop' && <DropDialog table={table} onClose={close} />}
    </section>
  )
}

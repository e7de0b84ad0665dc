import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { countQuery, type Table, type TableField } from '../queries.ts'
import { AddFieldDialog } from './add-field-dialog.tsx'
import { dropField } from './calls.ts'
import { EditFieldDialog } from './edit-field-dialog.tsx'
import { FieldList } from './field-list.tsx'
import styles from './structure.module.css'

interface DropFieldDialogProps {
  readonly table: Table
  readonly field: TableField
  readonly onClose: () => void
}

const DropFieldDialog = ({ table, field: { name }, onClose }: DropFieldDialogProps) => {
  const count = useQuery(countQuery(table.id))
  return (
    <ConfirmDialog
      title={texts.dropFieldTitle(name, table.name)}
      hint={texts.dropFieldHint(name, count.data)}
      action={texts.dropField(name)}
      run={() => dropField(table, name)}
      onClose={onClose}
    />
  )
}

type Open = { readonly dialog: 'add' } | { readonly dialog: 'edit' | 'drop'; readonly field: TableField } | null

/** The fields, and the dialogs that change them. */
export const FieldSection = ({ table }: { readonly table: Table }) => {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  return (
    <section className={styles.section}>
      <header>
        <h2>{texts.fields}</h2>
        {table.kind === 'table' && (
          <Button onClick={() => setOpen({ dialog: 'add' })}>
            <Plus size={14} aria-hidden="true" />
            {texts.addField}
          </Button>
        )}
      </header>
      <FieldList
        table={table}
        onEdit={(field) => setOpen({ dialog: 'edit', field })}
        onDrop={(field) => setOpen({ dialog: 'drop', field })}
      />
      {table.warnings.map((warning) => (
        <p key={warning} className={styles.warning}>
          {warning}
        </p>
      ))}
      {open?.dialog === 'add' && <AddFieldDialog table={table} onClose={close} />}
      {open?.dialog === 'edit' && <EditFieldDialog table={table} field={open.field} onClose={close} />}
      {open?.dialog === 'drop' && <DropFieldDialog table={table} field={open.field} onClose={close} />}
    </section>
  )
}

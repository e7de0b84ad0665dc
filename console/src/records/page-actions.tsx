import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { Table } from '../tables/queries.ts'
import { texts } from '../texts/records-grid.ts'
import { Button } from '../ui/button.tsx'
import { invalidateRecords } from './changes.ts'
import { useCanEdit } from './source.ts'
import { ExportDialog } from './transfer/export-dialog.tsx'
import { ImportDialog } from './transfer/import-dialog.tsx'
import { PasteDialog } from './transfer/paste-dialog.tsx'
import { usePastedRows } from './transfer/use-paste.ts'
import { useView } from './view.ts'

type OpenDialog = 'export' | { readonly pasted: string } | null

/** Opens the dialog of an import. */
export const ImportButton = ({ table }: { readonly table: Table }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>{texts.import}</Button>
      {isOpen && (
        <ImportDialog table={table} onDone={() => invalidateRecords(table.id)} onClose={() => setOpen(false)} />
      )}
    </>
  )
}

const Changes = ({ table }: { readonly table: Table }) => {
  const { change } = useView()
  return (
    <>
      <ImportButton table={table} />
      <Button variant="primary" onClick={() => change({ new: 'true' })}>
        <Plus size={14} aria-hidden="true" />
        {texts.newRecord}
      </Button>
    </>
  )
}

/** What can be done with the records of a table: export, import, paste, create. */
export const PageActions = ({ table }: { readonly table: Table }) => {
  const { view } = useView()
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const canEdit = useCanEdit(table)
  usePastedRows((pasted) => canEdit && setDialog({ pasted }))
  const close = () => setDialog(null)
  return (
    <>
      <Button onClick={() => setDialog('export')}>{texts.export}</Button>
      {canEdit && <Changes table={table} />}
      {dialog === 'export' && <ExportDialog table={table} query={view} onClose={close} />}
      {typeof dialog === 'object' && dialog !== null && (
        <PasteDialog table={table} text={dialog.pasted} onDone={() => invalidateRecords(table.id)} onClose={close} />
      )}
    </>
  )
}

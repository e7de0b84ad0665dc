import { useQuery } from '@tanstack/react-query'
import { Copy, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Table, tablesQuery } from '../../tables/queries.ts'
import { texts } from '../../texts/record-panel.ts'
import { IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { notify, notifyError } from '../../ui/toast.tsx'
import { wideField } from '../keys.ts'
import type { Version } from '../queries.ts'
import { incomingOf } from './links.ts'
import { deleteRecord, restoreRecords } from './queries.ts'

interface RecordActionsProps {
  readonly table: Table
  readonly pk: string
  readonly version: Version
  readonly name: string
  readonly onDuplicate: () => void
  readonly onDeleted: () => void
  readonly onRestored: () => void
}

const useDelete = ({ table, pk, version, name, onDeleted, onRestored }: RecordActionsProps) => {
  const restore = async (record: Readonly<Record<string, unknown>>) => {
    try {
      await restoreRecords(table, [record])
      notify({ title: texts.restored(name) })
      onRestored()
    } catch (error) {
      notifyError(texts.restoreFailed(name), error)
    }
  }
  return async () => {
    const record = await deleteRecord(table, pk, version)
    const undo = { label: texts.undo, run: () => restore(record) }
    notify({ title: texts.deleted(name), ...(!wideField(table, record) && { action: undo }) })
    onDeleted()
  }
}

const hintOf = ({ table, version }: RecordActionsProps, hasLinks: boolean) => {
  const wide = wideField(table, version.record)
  if (wide) return texts.deleteForGood(wide.label || wide.name)
  return hasLinks ? texts.deleteLinksHint : texts.deleteHint
}

/** Duplicates and deletes a record. */
export const RecordActions = (props: RecordActionsProps) => {
  const { table, version, name } = props
  const [isAsking, setAsking] = useState(false)
  const tables = useQuery(tablesQuery)
  const remove = useDelete(props)
  const hasLinks = incomingOf(tables.data ?? [], table, version.record).length > 0
  return (
    <>
      <IconButton label={texts.duplicate} onClick={props.onDuplicate}>
        <Copy size={14} aria-hidden="true" />
      </IconButton>
      <IconButton label={texts.deleteAction(name)} onClick={() => setAsking(true)}>
        <Trash2 size={14} aria-hidden="true" />
      </IconButton>
      {isAsking && (
        <ConfirmDialog
          title={texts.deleteTitle(name)}
          hint={hintOf(props, hasLinks)}
          action={texts.deleteAction(name)}
          run={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}

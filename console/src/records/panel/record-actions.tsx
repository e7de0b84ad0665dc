import { useMutation, useQuery } from '@tanstack/react-query'
import { Copy, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Table, tablesQuery } from '../../tables/queries.ts'
import { texts } from '../../texts/record-panel.ts'
import { IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { notify, notifyError } from '../../ui/toast.tsx'
import { invalidateRecords } from '../changes.ts'
import { type Row, wideField } from '../keys.ts'
import type { Version } from '../queries.ts'
import { enqueueChange } from '../queues.ts'
import { incomingOf } from './links.ts'
import { deleteRecord, restoreRecords } from './queries.ts'

interface RecordActionsProps {
  readonly table: Table
  readonly pk: string
  readonly version: Version
  readonly name: string
  readonly onDuplicate: () => void
  /** Called after the delete, if the user has not left the panel. */
  readonly onDeleted: () => void
}

const useDelete = ({ table, pk, version, name, onDeleted }: RecordActionsProps) => {
  const restore = async (record: Row) => {
    try {
      await restoreRecords(table, [record])
      notify({ title: texts.restored(name) })
      invalidateRecords(table.id)
    } catch (error) {
      notifyError(texts.restoreFailed(name), error)
    }
  }
  const { mutateAsync } = useMutation({
    mutationFn: () => enqueueChange(table.id, pk, () => deleteRecord(table, pk, version)),
    onSuccess: (record) => {
      const undo = { label: texts.undo, run: () => restore(record) }
      notify({ title: texts.deleted(name), ...(!wideField(table, record) && { action: undo }) })
      invalidateRecords(table.id)
    }
  })
  // `onDeleted` is not called after the user has left the panel.
  return () => mutateAsync(undefined, { onSuccess: onDeleted })
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

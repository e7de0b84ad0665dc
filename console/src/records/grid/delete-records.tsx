import { useMutation } from '@tanstack/react-query'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/records-grid.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Problem } from '../../ui/page.tsx'
import { notify, notifyError } from '../../ui/toast.tsx'
import { deleteRecords } from '../changes.ts'
import type { Selection } from './selection.tsx'

interface DeleteDialogProps {
  readonly table: Table
  readonly selected: Selection
  readonly onDeleted: () => void
  readonly onClose: () => void
}

type Deletion = Awaited<ReturnType<typeof deleteRecords>>

/** Asks before records are deleted. The notice after it can undo the deletion. */
export const DeleteDialog = ({ table, selected, onDeleted, onClose }: DeleteDialogProps) => {
  const title = titleOf(table)
  const count = selected.size
  const undo = async ({ count: deleted, restore }: Deletion) => {
    try {
      await restore()
      notify({ title: texts.restored(deleted, title) })
    } catch (error) {
      notifyError(texts.undoFailed, error)
    }
  }
  const remove = useMutation({
    mutationFn: () => deleteRecords(table, selected),
    onSuccess: (deletion) => {
      onDeleted()
      notify({
        title: texts.deleted(deletion.count, title),
        ...(deletion.count < count && { description: texts.alreadyDeleted(count - deletion.count) }),
        ...(deletion.count > 0 && { action: { label: texts.undo, run: () => undo(deletion) } })
      })
    }
  })
  return (
    <Dialog title={texts.deleteTitle(count, title)} hint={texts.deleteHint} onClose={onClose}>
      <p>{texts.deleteCascades}</p>
      {remove.isError && <Problem error={remove.error} />}
      <Actions>
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button variant="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
          {texts.deleteAction(count, title)}
        </Button>
      </Actions>
    </Dialog>
  )
}

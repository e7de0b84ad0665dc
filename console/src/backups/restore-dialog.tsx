import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { openLogin } from '../session/account.ts'
import { texts } from '../texts/backups.ts'
import { texts as common } from '../texts/common.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { Checkbox, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/page.tsx'
import { formatTime } from '../ui/time.tsx'
import { notify } from '../ui/toast.tsx'
import { type Backup, quickBackupsQuery, restoreBackup } from './queries.ts'
import { Running } from './running.tsx'

interface RestoreDialogProps {
  readonly backup: Backup
  readonly onClose: () => void
}

/** If the administrators are those of the backup, no session is left, also not this one. */
const useRestore = ({ name, createdAt }: Backup, onClose: () => void) =>
  useMutation({
    mutationFn: (includesAccess: boolean) => restoreBackup(name, includesAccess),
    onSuccess: (before, includesAccess) => {
      if (before && includesAccess) return openLogin()
      notify(
        before
          ? { title: texts.restored(formatTime(createdAt)), description: texts.stateBefore(before.name) }
          : { title: texts.restoreGoesOn }
      )
      onClose()
    }
  })

const RestoreProgress = () => {
  const { data } = useQuery(quickBackupsQuery)
  return (
    <>
      <Running running={data?.running} />
      <p>{texts.restoring}</p>
    </>
  )
}

/** Asks before the content of the database is replaced. The dialog stays open until this is done. */
export const RestoreDialog = ({ backup, onClose }: RestoreDialogProps) => {
  const [typed, setTyped] = useState('')
  const [includesAccess, setIncludesAccess] = useState(false)
  const { mutate, isPending, error } = useRestore(backup, onClose)
  const isReady = typed === backup.name && !isPending
  const time = formatTime(backup.createdAt)
  return (
    <Dialog
      title={texts.restoreTitle(time)}
      hint={includesAccess ? texts.restoreAllHint(time) : texts.restoreHint(time)}
      {...(!isPending && { onClose })}
    >
      <Form onSubmit={() => isReady && mutate(includesAccess)}>
        <Checkbox
          label={texts.includeAccess}
          hint={texts.includeAccessHint}
          checked={includesAccess}
          disabled={isPending}
          onChange={({ target }) => setIncludesAccess(target.checked)}
        />
        <TextField
          label={common.typeName(backup.name)}
          isMono
          autoComplete="off"
          spellCheck={false}
          readOnly={isPending}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        {isPending && <RestoreProgress />}
        {error !== null && <Problem error={error} />}
        <Actions>
          <Button disabled={isPending} onClick={onClose}>
            {common.cancel}
          </Button>
          <Button type="submit" variant="danger" disabled={!isReady}>
            {texts.restoreDo}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}

import { useState } from 'react'
import { texts } from '../texts/backups.ts'
import { texts as common } from '../texts/common.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { FileDrop } from '../ui/file-drop.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/page.tsx'
import { Progress } from '../ui/progress.tsx'
import { useUpload } from './use-upload.ts'

const ACCEPTED = '.db,.sqlite,.sqlite3'

/** Sends a file, which the service checks before it is a backup. */
export const UploadDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [file, setFile] = useState<File>()
  const { part, isPending, isSent, error, send, cancel, reset } = useUpload(onClose)
  const choose = (chosen: File) => {
    reset()
    setFile(chosen)
  }
  return (
    <Dialog title={texts.upload} hint={texts.uploadHint} {...(!isPending && { onClose })}>
      <Form onSubmit={() => file && send(file)}>
        {!isPending && <FileDrop file={file} prompt={texts.choose} accept={ACCEPTED} onFile={choose} />}
        {isPending && <Progress part={part}>{part < 1 ? texts.sending(part) : texts.checking}</Progress>}
        {error !== null && <Problem error={error} />}
        <Actions>
          <Button variant="quiet" onClick={isPending ? cancel : onClose}>
            {isSent ? common.close : common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={file === undefined || isPending}>
            {texts.uploadDo}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}

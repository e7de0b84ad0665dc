import { texts } from '../texts/backups.ts'
import { notify, notifyError } from '../ui/toast.tsx'
import { useSending } from '../ui/use-sending.ts'
import { uploadBackup } from './queries.ts'

/** The upload of one file. */
export const useUpload = (onClose: () => void) =>
  useSending({
    send: uploadBackup,
    isStored: () => true,
    onSuccess: ({ name }, close) => {
      notify({ title: texts.uploaded(name) })
      close()
    },
    onLateError: (error) => notifyError(texts.notUploaded, error),
    onClose
  })

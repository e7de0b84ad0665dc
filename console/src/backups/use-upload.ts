import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { texts } from '../texts/backups.ts'
import { notify, notifyError } from '../ui/toast.tsx'
import { uploadBackup } from './queries.ts'

/** The upload of one file. */
export const useUpload = (onClose: () => void) => {
  const [part, setPart] = useState(0)
  /** Whether the dialog is closed, and a notice says what has happened. */
  const isLeft = useRef(false)
  const controller = useRef(new AbortController())
  const upload = useMutation({
    mutationFn: (file: File) => {
      setPart(0)
      controller.current = new AbortController()
      return uploadBackup(file, { onProgress: setPart, signal: controller.current.signal })
    },
    onSuccess: ({ name }) => {
      notify({ title: texts.uploaded(name) })
      if (!isLeft.current) onClose()
    },
    onError: (error) => isLeft.current && notifyError(texts.notUploaded, error)
  })
  /** Once the whole file is sent, the service may store it, whether or not somebody waits for the response. */
  const isSent = upload.isPending && part === 1
  return {
    part,
    isPending: upload.isPending,
    isSent,
    error: upload.error,
    send: (file: File) => upload.mutate(file),
    reset: () => upload.reset(),
    cancel: () => {
      if (isSent) {
        isLeft.current = true
        onClose()
        return
      }
      controller.current.abort()
      upload.reset()
    }
  }
}

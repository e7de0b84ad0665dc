import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { texts } from '../texts/backups.ts'
import { notify } from '../ui/toast.tsx'
import { uploadBackup } from './queries.ts'

/** The upload of one file. If it is cancelled, the service stores nothing. */
export const useUpload = (onDone: () => void) => {
  const [part, setPart] = useState(0)
  const controller = useRef(new AbortController())
  const upload = useMutation({
    mutationFn: (file: File) => {
      setPart(0)
      controller.current = new AbortController()
      return uploadBackup(file, { onProgress: setPart, signal: controller.current.signal })
    },
    onSuccess: ({ name }) => {
      notify({ title: texts.uploaded(name) })
      onDone()
    }
  })
  return {
    part,
    isPending: upload.isPending,
    error: upload.error,
    send: (file: File) => upload.mutate(file),
    reset: () => upload.reset(),
    cancel: () => {
      controller.current.abort()
      upload.reset()
    }
  }
}

import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'

interface SendOptions {
  /** Called with the part of the file that is sent, from 0 to 1. */
  readonly onProgress: (part: number) => void
  readonly signal: AbortSignal
}

interface SendingOptions<V, R> {
  readonly send: (variables: V, options: SendOptions) => Promise<R>
  /** Whether the service stores the file, or only checks it. */
  readonly isStored: (variables: V) => boolean
  /** `close` closes the dialog, unless it was closed before. */
  readonly onSuccess: (result: R, close: () => void) => void
  /** Called with an error after the dialog was closed, which cannot show it. */
  readonly onLateError: (error: Error) => void
  readonly onClose: () => void
}

/** Sends a file from a dialog. When the whole file is sent, the dialog can be closed before the response. */
export const useSending = <V, R>({ send, isStored, onSuccess, onLateError, onClose }: SendingOptions<V, R>) => {
  const [part, setPart] = useState(0)
  /** Whether the dialog was closed before the response. */
  const isLeft = useRef(false)
  const controller = useRef(new AbortController())
  const work = useMutation({
    mutationFn: (variables: V) => {
      setPart(0)
      controller.current = new AbortController()
      return send(variables, { onProgress: setPart, signal: controller.current.signal })
    },
    onSuccess: (result) =>
      onSuccess(result, () => {
        if (!isLeft.current) onClose()
      }),
    onError: (error) => isLeft.current && onLateError(error)
  })
  /** Once the whole file is sent, the service may store it, whether or not somebody waits for the response. */
  const isSent = work.isPending && part === 1 && isStored(work.variables)
  return {
    part,
    isPending: work.isPending,
    isSent,
    error: work.error,
    result: work.data,
    send: work.mutate,
    reset: () => work.reset(),
    /** Stops the request. When the whole file is sent, only closes the dialog. */
    cancel: () => {
      if (isSent) {
        isLeft.current = true
        onClose()
        return
      }
      controller.current.abort()
      work.reset()
    }
  }
}

import { useSyncExternalStore } from 'react'

/** Requests wait here for the login over the page. */
interface Renewal {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

let renewal: Renewal | null = null
const listeners = new Set<() => void>()

const set = (next: Renewal | null) => {
  renewal = next
  for (const listener of listeners) listener()
}

/** Resolves after a login. All requests that find the session ended share one login. */
export const renewSession = (): Promise<void> => {
  if (!renewal) set(Promise.withResolvers<void>())
  return (renewal as unknown as Renewal).promise
}

/** Ends the wait: the requests are sent again. */
export const endRenewal = () => {
  const { resolve } = renewal ?? {}
  set(null)
  resolve?.()
}

/** Whether a request waits for a login. */
export const useRenewal = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => renewal !== null
  )

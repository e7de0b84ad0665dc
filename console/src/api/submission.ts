import { ServiceError } from './errors.ts'

/** Not `crypto.randomUUID`, which browsers have only with HTTPS. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Whether the service may have stored the change although the request has failed. */
const isOpen = (error: unknown) =>
  error instanceof ServiceError &&
  (error.status === 0 || error.status >= 500 || error.code === 'IDEMPOTENCY_KEY_IN_FLIGHT')

interface Submission {
  readonly content: string
  readonly key: string
}

/**
 * Returns a function that sends changes with an `Idempotency-Key`. If a request fails and the service may have stored it,
 * the same content is sent with the same key, so that it is stored once.
 */
export const createSubmit = () => {
  let last: Submission | null = null
  return async <T>(content: unknown, send: (key: string) => Promise<T>): Promise<T> => {
    const text = JSON.stringify(content)
    if (last?.content !== text) last = { content: text, key: randomKey() }
    try {
      const result = await send(last.key)
      last = null
      return result
    } catch (error) {
      if (!isOpen(error)) last = null
      throw error
    }
  }
}

export type Submit = ReturnType<typeof createSubmit>

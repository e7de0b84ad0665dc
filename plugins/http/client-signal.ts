import type { FastifyRequest } from 'fastify'
import { responseOf } from './pending-requests.ts'

/**
 * Aborts with `close` of the response. Fastify's `request.signal` already aborts when the body has been read. Without a
 * connection, as in tests, it never aborts.
 */
const createSignal = ({ raw }: FastifyRequest) => {
  const controller = new AbortController()
  const response = responseOf(raw)
  // The response may have closed before the signal was needed.
  if (raw.socket.destroyed || response?.destroyed) controller.abort()
  else response?.once('close', () => controller.abort())
  return controller.signal
}

/**
 * Returns a function that returns the signal of a request, which aborts when its response is complete or its client has
 * disconnected. The signal is created with the first call: few requests need it.
 */
export const clientSignalOf = (request: FastifyRequest) => {
  let signal: AbortSignal | undefined
  return () => {
    signal ??= createSignal(request)
    return signal
  }
}

import type { FastifyRequest } from 'fastify'
import { responseOf } from './pending-requests.ts'

/**
 * Fastify's `request.signal` listens to `close` of the request, which Node emits when the body has been read. Not for a
 * request without a connection, as in tests: its signal never aborts.
 */
const createSignal = ({ raw }: FastifyRequest) => {
  const controller = new AbortController()
  responseOf(raw)?.once('close', () => controller.abort())
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

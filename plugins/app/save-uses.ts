import type { FastifyInstance } from 'fastify'

const FLUSH_INTERVAL_MS = 60_000

export interface SaveUsesOptions {
  /** Milliseconds between two flushes. */
  readonly flushInterval?: number
}

/** Saves the uses of tokens or admin keys at intervals and at the close. Logs `failure` if a flush fails; the next one saves them. */
export const saveUses = (
  fastify: FastifyInstance,
  { flush, failure }: { readonly flush: () => Promise<void>; readonly failure: string },
  { flushInterval = FLUSH_INTERVAL_MS }: SaveUsesOptions
) => {
  const flushOrLog = () => flush().catch((error) => fastify.log.error({ err: error }, failure))
  const timer = setInterval(flushOrLog, flushInterval).unref()

  fastify.addHook('onClose', async () => {
    clearInterval(timer)
    await flushOrLog()
  })
}

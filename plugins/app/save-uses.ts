import type { FastifyInstance } from 'fastify'

const FLUSH_INTERVAL_MS = 60_000

export interface SaveUsesOptions {
  /** Milliseconds between two writes of last_used_at. */
  readonly flushInterval?: number
}

/** Saves the uses of tokens or admin keys at intervals and at the close. A failure is logged; the next flush saves them. */
export const saveUses = (
  fastify: FastifyInstance,
  { flush, name }: { readonly flush: () => Promise<void>; readonly name: string },
  { flushInterval = FLUSH_INTERVAL_MS }: SaveUsesOptions
) => {
  const flushOrLog = () =>
    flush().catch((error) => fastify.log.error({ err: error }, `The last uses of ${name} could not be saved.`))
  const timer = setInterval(flushOrLog, flushInterval).unref()

  fastify.addHook('onClose', async () => {
    clearInterval(timer)
    await flushOrLog()
  })
}

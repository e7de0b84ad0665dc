import fp from 'fastify-plugin'

interface TokenUsePurgeOptions {
  /** Milliseconds between two purges. */
  readonly interval?: number
}

const INTERVAL_MS = 60 * 60 * 1000

/** Deletes the uses of tokens on old days at intervals. A failure is logged; the next purge retries. */
export default fp<TokenUsePurgeOptions>(
  async (fastify, { interval = INTERVAL_MS }) => {
    const { dailyUses, log } = fastify
    const run = () => dailyUses.purge().catch((error) => log.error({ err: error }, 'Old uses could not be deleted.'))
    const timer = setInterval(run, interval).unref()
    fastify.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'token-use-purge' }
)

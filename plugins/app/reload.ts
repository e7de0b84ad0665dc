import type { FastifyInstance } from 'fastify'
import type { MemoryChanges, MemoryKind, RowId } from '../../services/model/memory.ts'
import { createSequence } from '../../services/model/sequence.ts'

const RELOAD_RETRY_MS = 1000

/** Loads what has changed. null: everything may have changed. */
type Load = (changes: MemoryChanges | null) => Promise<unknown>

/** A cache, and the kinds of memory that it is made from. `load` gets the changed rows of the first kind; null: all rows. */
interface Cache {
  readonly kinds: readonly [MemoryKind, ...MemoryKind[]]
  readonly load: (rows: readonly RowId[] | null) => Promise<unknown>
}

/** Returns the function that loads the stale caches. */
export const createLoad =
  (caches: readonly Cache[]): Load =>
  (changes) => {
    const stale = caches.filter(({ kinds }) => !changes || kinds.some((kind) => changes.has(kind)))
    return Promise.all(stale.map(({ kinds: [kind], load }) => load(changes?.get(kind) ?? null)))
  }

/**
 * Returns the function that reloads the caches, one reload at a time. A call during a reload waits for it. External commits call
 * it, too: then a failed reload is logged and retried.
 */
export const createReload = (fastify: FastifyInstance, load: Load) => {
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  const inSequence = createSequence()
  /** The next reload of everything, until it begins. */
  let next: Promise<unknown> | undefined
  let last: Promise<unknown> = Promise.resolve()

  const reloadChanges = (changes: MemoryChanges | null) => {
    last = inSequence(async () => {
      if (changes === null) next = undefined
      if (!isClosed) await load(changes)
    })
    return last
  }

  const reload = (): Promise<unknown> => {
    clearTimeout(retry)
    next ??= reloadChanges(null)
    return next
  }

  const reloadOrRetry = async (changes: MemoryChanges | null) => {
    try {
      await (changes ? reloadChanges(changes) : reload())
    } catch (error) {
      fastify.log.error({ err: error }, 'Tables, tokens and settings could not be reloaded. Retrying.')
      clearTimeout(retry)
      retry = setTimeout(() => reloadOrRetry(null).catch(() => {}), RELOAD_RETRY_MS).unref()
      throw error
    }
  }
  fastify.database.onStaleMemory(reloadOrRetry)
  // The database closes after this hook, and its last write batch still reports external commits.
  fastify.addHook('onClose', async () => {
    isClosed = true
    clearTimeout(retry)
    // A reload of many tokens takes some ticks. It must not fail because the database closes.
    await last.catch(() => {})
  })
  return reload
}

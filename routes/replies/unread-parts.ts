import type { FastifyReply } from 'fastify'
import type { Chunk } from '../../services/records/export/steps.ts'
import { unreadOf } from './unread.ts'

/** Counts the parts of an export from their read until they are sent, or until the connection closes. */
export const createUnreadParts = (reply: FastifyReply) => {
  const { raw, request } = reply
  const { caller } = request
  const unread = unreadOf(reply)
  let counted = 0

  const count = (size: number) => {
    if (raw.destroyed) return
    counted += size
    unread.addRead(caller, size)
  }

  raw.once('close', () => {
    unread.addRead(caller, -counted)
    counted = 0
  })

  return {
    /** Reads the next part when the caller, and all callers, have room for it. */
    read: async (next: () => Promise<IteratorResult<Chunk>>): Promise<IteratorResult<Chunk>> => {
      await unread.reserve(caller, reply)
      try {
        const step = await next()
        if (!step.done) count(step.value.length)
        return step
      } finally {
        unread.release(caller)
      }
    },
    /** Ends the count of a part that was sent. `size`: of the part. The header of a file was never counted, so the count may be lower by it. */
    sent: (size: number) => count(-Math.min(size, counted))
  }
}

export type UnreadParts = ReturnType<typeof createUnreadParts>

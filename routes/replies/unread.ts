import type { Server } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { createCallerCounts } from '../../plugins/http/caller-counts.ts'
import { MAX_UNREAD } from '../../services/engine/shared/unread-text.ts'
import type { Caller } from '../../services/model/caller.ts'

/** Characters that large responses of all callers may have before the next large read is refused. */
const MAX_UNREAD_FOR_READS = 0.75 * MAX_UNREAD
/** The share of one caller, so that it cannot keep others from reading. */
const MAX_UNREAD_OF_CALLER = MAX_UNREAD / 4
/** Reserved for each part of an export while it is read. Its size is not known before: a single record has no limit. */
const RESERVED_FOR_PART = MAX_UNREAD_OF_CALLER / 4

/**
 * Counts what clients have not read of their responses, in characters, or bytes of an export. Changes are limited by those of changes
 * only (`database.unread`): clients that only read must not keep others from creating and changing.
 */
const createUnread = ({ database }: FastifyInstance) => {
  const counts = createCallerCounts(MAX_UNREAD_OF_CALLER)
  const reserved = createCallerCounts()
  const waiting = new Set<() => void>()

  const startWaiting = () => {
    for (const start of waiting) start()
  }

  const addToCaller = (caller: Caller, size: number) => {
    counts.add(caller, size)
    if (size < 0) startWaiting()
  }

  const addRead = (caller: Caller, size: number) => {
    database.unread.addRead(size)
    addToCaller(caller, size)
  }

  const addChange = (caller: Caller, characters: number) => {
    database.unread.add(characters)
    addToCaller(caller, characters)
  }

  /** One response may exceed a limit alone. */
  const hasRoomOfCaller = (caller: Caller, length: number) => {
    const ofCaller = counts.of(caller)
    return ofCaller === 0 || ofCaller + length <= MAX_UNREAD_OF_CALLER
  }

  const hasRoomForRead = (caller: Caller, length: number) => {
    const ofAll = counts.total()
    return hasRoomOfCaller(caller, length) && (ofAll === 0 || ofAll + length <= MAX_UNREAD_FOR_READS)
  }

  const hasRoomForChange = (caller: Caller) => hasRoomOfCaller(caller, 0) && database.unread.characters() <= MAX_UNREAD

  /** One part may exceed a limit alone. */
  const hasRoomForPart = (caller: Caller) => {
    const ofCaller = counts.of(caller) + reserved.of(caller)
    const ofAll = counts.total() + reserved.total()
    return (
      (ofCaller === 0 || ofCaller + RESERVED_FOR_PART <= MAX_UNREAD_OF_CALLER) &&
      (ofAll === 0 || ofAll + RESERVED_FOR_PART <= MAX_UNREAD_FOR_READS)
    )
  }

  /** Resolves when a part can be read, for which it reserves memory, or when the response of the part closes. */
  const reserve = (caller: Caller, { raw }: FastifyReply) =>
    new Promise<void>((resolve) => {
      const start = () => {
        if (!raw.destroyed && !hasRoomForPart(caller)) return
        waiting.delete(start)
        raw.off('close', start)
        reserved.add(caller, RESERVED_FOR_PART)
        resolve()
      }
      waiting.add(start)
      raw.on('close', start)
      start()
    })

  const release = (caller: Caller) => {
    reserved.add(caller, -RESERVED_FOR_PART)
    startWaiting()
  }

  return { addRead, addChange, hasRoomForRead, hasRoomForChange, reserve, release }
}

export type Unread = ReturnType<typeof createUnread>

const unreadByServer = new WeakMap<Server, Unread>()

/** Returns the counts of the service. */
export const unreadOf = ({ server }: FastifyReply): Unread => {
  const unread = unreadByServer.get(server.server) ?? createUnread(server)
  unreadByServer.set(server.server, unread)
  return unread
}

import type { FastifyRequest } from 'fastify'
import { createGarbageCount } from '../../services/engine/shared/garbage.ts'
import { overloaded } from '../../services/model/errors.ts'
import { type CallerCounts, createCallerCounts } from './caller-counts.ts'
import { responseOf } from './pending-requests.ts'

/** Bytes. Smaller bodies are not counted: `BODY_LIMIT` and the number of connections limit them. */
const MIN_COUNTED_BYTES = 2 ** 20
/** Bytes of large bodies in memory. Their values and texts take several times as much. */
const MAX_BYTES = 64 * 2 ** 20
const MAX_BYTES_OF_CALLER = MAX_BYTES / 2

declare module 'fastify' {
  interface FastifyInstance {
    /** Bytes of large bodies whose requests have no response yet. */
    largeBodies: CallerCounts
  }
}

const countGarbage = createGarbageCount()

const tooMany = () => overloaded('Too many large bodies are in memory. Try again.', 1)

/** Returns the counts for `fastify.largeBodies`. */
export const createLargeBodies = createCallerCounts

/**
 * Returns a function that counts the bytes of a body while they arrive, until the response to it is sent. It throws
 * OVERLOADED if there are too many. One body of a caller is always accepted: other limits bound its size.
 */
export const createBodyCount = ({ server, raw, caller }: FastifyRequest) => {
  const { largeBodies } = server
  let counted = 0
  let isReleased = false

  const release = () => {
    isReleased = true
    largeBodies.add(caller, -counted)
    countGarbage(counted)
  }

  /** `size`: of the body so far. */
  return (size: number) => {
    if (isReleased || size <= MIN_COUNTED_BYTES) return
    if (counted === 0) {
      const response = responseOf(raw)
      // Nothing would release the count. The response is already sent, or the request has no connection.
      if (!response) return
      response.once('close', release)
    }
    largeBodies.add(caller, size - counted)
    counted = size
    const ofCaller = largeBodies.of(caller)
    if (ofCaller > counted && (ofCaller > MAX_BYTES_OF_CALLER || largeBodies.total() > MAX_BYTES)) throw tooMany()
  }
}

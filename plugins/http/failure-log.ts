import type { FastifyBaseLogger } from 'fastify'

export interface Failure {
  readonly level: 'warn' | 'error'
  /** Failures with the same key are of the same kind. */
  readonly key: string
  readonly message: string
  readonly fields: object
}

interface Kind {
  latest: Failure
  /** Failures since the last line. */
  suppressed: number
  readonly timer: NodeJS.Timeout
}

const INTERVAL_MS = 60_000
/** Messages of 500s may contain values, so the number of kinds is not limited otherwise. */
const MAX_KINDS = 32
/** The kind of all failures beyond MAX_KINDS. */
const OTHER = 'other'

/**
 * Returns a log that writes one line per kind of failure and minute, so that a flood of failures does not fill the disk.
 * The first failure of a kind is written at once. Those that follow are counted, and written as one line after a
 * minute, with their number as `suppressed` and the values of the latest.
 * @param interval milliseconds between two lines of one kind
 */
export const createFailureLog = (log: FastifyBaseLogger, interval = INTERVAL_MS) => {
  const kinds = new Map<string, Kind>()

  const writeSuppressed = (kind: Kind) => {
    const { latest, suppressed } = kind
    kind.suppressed = 0
    log[latest.level]({ ...latest.fields, suppressed }, latest.message)
  }

  const end = (key: string, { timer }: Kind) => {
    clearInterval(timer)
    kinds.delete(key)
  }

  const begin = (key: string, failure: Failure) => {
    const onInterval = () => (kind.suppressed > 0 ? writeSuppressed(kind) : end(key, kind))
    const kind: Kind = { latest: failure, suppressed: 0, timer: setInterval(onInterval, interval).unref() }
    kinds.set(key, kind)
  }

  /** Writes or counts a failure. */
  const record = (failure: Failure) => {
    const key = kinds.has(failure.key) || kinds.size < MAX_KINDS ? failure.key : OTHER
    const kind = kinds.get(key)
    if (kind) {
      kind.suppressed += 1
      kind.latest = failure
      return
    }
    begin(key, failure)
    log[failure.level](failure.fields, failure.message)
  }

  /** Writes the remaining counts, and ends the timers. */
  const close = () => {
    for (const [key, kind] of kinds) {
      if (kind.suppressed > 0) writeSuppressed(kind)
      end(key, kind)
    }
  }

  return { record, close }
}

export type FailureLog = ReturnType<typeof createFailureLog>

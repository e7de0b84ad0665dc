import { setImmediate as nextTick } from 'node:timers/promises'
import type { TokenUse } from '../../schemas/token-use.ts'
import type { Database } from '../engine/database.ts'
import type { Clock } from '../model/clock.ts'
import { hasCode } from '../model/errors.ts'
import { createSequence } from '../model/sequence.ts'
import type { Row } from '../model/sql-value.ts'
import { addUses, type DayUses, purgeUses, selectPurgeable, selectUses } from './daily-use-statements.ts'
import { inUnits } from './units.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Days of which the uses are kept, with the present one. */
const KEPT_DAYS = 90

const REFUSED: ReadonlySet<number> = new Set([401, 403, 429])
const MIN_FAILED = 500

/** Uses that are not saved, of one token on one day. */
interface Counts {
  requests: number
  refused: number
  failed: number
}

/** The uses of a day that are not saved, by the id of the token. */
type CountsOfDay = Map<number, Counts>

/** Returns a day such as 2026-01-31. `day`: days since 1970. */
const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The boundary function that gives a row its type. */
const toUse = ({ day, requests, refused, failed }: Row): TokenUse => ({
  day: day as string,
  requests: requests as number,
  refused: refused as number,
  failed: failed as number
})

const latestFirst = (one: TokenUse, other: TokenUse) => Number(one.day < other.day) - Number(one.day > other.day)

/** Creates the service that counts the requests of each token by day, in UTC. */
export const createDailyUses = ({ db, clock }: { readonly db: Database; readonly clock: Clock }) => {
  const unsaved = new Map<number, CountsOfDay>()
  /** Reads and flushes run one after the other: a read must not see uses twice that are being saved. */
  const inSequence = createSequence()

  const today = () => Math.floor(clock() / DAY_MS)
  const firstKeptDay = () => dayText(today() - KEPT_DAYS + 1)

  const addDay = (day: number): CountsOfDay => {
    const ofDay: CountsOfDay = new Map()
    unsaved.set(day, ofDay)
    return ofDay
  }

  const addToken = (ofDay: CountsOfDay, tokenId: number): Counts => {
    const counts = { requests: 0, refused: 0, failed: 0 }
    ofDay.set(tokenId, counts)
    return counts
  }

  const countsOf = (tokenId: number): Counts => {
    const day = today()
    const ofDay = unsaved.get(day) ?? addDay(day)
    return ofDay.get(tokenId) ?? addToken(ofDay, tokenId)
  }

  /** Counts a request that was authenticated with a token. */
  const countRequest = (tokenId: number) => {
    countsOf(tokenId).requests += 1
  }

  /** Counts the status of the response to such a request. */
  const countStatus = (tokenId: number, status: number) => {
    if (status >= MIN_FAILED) countsOf(tokenId).failed += 1
    else if (REFUSED.has(status)) countsOf(tokenId).refused += 1
  }

  /** Subtracts the saved counts. More requests may have been counted since. */
  const subtract = (ofDay: CountsOfDay, uses: readonly DayUses[]) => {
    for (const [tokenId, requests, refused, failed] of uses) {
      const counts = ofDay.get(tokenId) as Counts
      counts.requests -= requests
      counts.refused -= refused
      counts.failed -= failed
      if (counts.requests + counts.refused + counts.failed === 0) ofDay.delete(tokenId)
    }
  }

  const saveUnit = async (day: number, ofDay: CountsOfDay, unit: readonly (readonly [number, Counts])[]) => {
    const uses = unit.map(([id, { requests, refused, failed }]) => [id, requests, refused, failed] as const)
    try {
      await db.write([addUses(dayText(day), uses)], { keepsMemory: true })
    } catch (error) {
      // The write may have been committed. A retry could count the requests twice.
      if (hasCode(error, 'OUTCOME_UNKNOWN')) subtract(ofDay, uses)
      throw error
    }
    subtract(ofDay, uses)
  }

  const save = async () => {
    for (const [day, ofDay] of [...unsaved]) {
      for (const unit of inUnits([...ofDay])) await saveUnit(day, ofDay, unit)
      if (ofDay.size === 0) unsaved.delete(day)
    }
  }

  /**
   * Adds the uses since the previous call to the stored ones. If this fails, the next call saves them; if its outcome is
   * unknown, they are not saved again.
   */
  const flush = () => inSequence(save)

  const unsavedOf = (tokenId: number): TokenUse[] =>
    [...unsaved].flatMap(([day, ofDay]) => {
      const counts = ofDay.get(tokenId)
      return counts ? [{ day: dayText(day), ...counts }] : []
    })

  const readUses = async (tokenId: number): Promise<TokenUse[]> => {
    const byDay = new Map((await db.read(selectUses(tokenId, firstKeptDay()))).map((row) => [row.day, toUse(row)]))
    for (const use of unsavedOf(tokenId)) {
      const { requests = 0, refused = 0, failed = 0 } = byDay.get(use.day) ?? {}
      byDay.set(use.day, {
        day: use.day,
        requests: requests + use.requests,
        refused: refused + use.refused,
        failed: failed + use.failed
      })
    }
    return [...byDay.values()].sort(latestFirst)
  }

  /** Returns the days with use, the latest first, with the uses of this service that are not saved. */
  const list = (tokenId: number) => inSequence(() => readUses(tokenId))

  /** Deletes the uses of days that are not kept, in small units. */
  const purge = async () => {
    const firstDay = firstKeptDay()
    let after = 0
    for (;;) {
      const [found] = await db.read(selectPurgeable(after, firstDay))
      if (typeof found?.last !== 'number') return
      if (found.has_old === 1) await db.write([purgeUses(after, firstDay)], { keepsMemory: true })
      else after = found.last
      await nextTick()
    }
  }

  return { countRequest, countStatus, flush, list, purge }
}

export type DailyUses = ReturnType<typeof createDailyUses>

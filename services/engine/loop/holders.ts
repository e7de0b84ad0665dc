import { identityOf } from '../../model/caller.ts'
import { overloaded } from '../../model/errors.ts'
import type { ScanCaller } from '../database.ts'
import { RETRY_AFTER_SECONDS } from './slots.ts'

const MAX_HELD_READERS = 2

/** Counts held readers. One token must not hold all of them: its client may read slowly, or not at all. */
export const createHolders = () => {
  const holders = new Set<{ readonly caller: ScanCaller }>()

  const assertMayHold = (held: ScanCaller) => {
    if (holders.size >= MAX_HELD_READERS)
      throw overloaded('Two sorted or filtered exports are running. Try again when one has ended.', RETRY_AFTER_SECONDS)
    const isHolding = [...holders].some(({ caller }) => identityOf(caller) === identityOf(held))
    if (held.kind === 'token' && isHolding)
      throw overloaded(
        'A sorted or filtered export of this token is running. Try again when it has ended.',
        RETRY_AFTER_SECONDS
      )
  }

  /** Returns the function that releases the reader of the caller. @throws OVERLOADED */
  const hold = (caller: ScanCaller) => {
    assertMayHold(caller)
    const holder = { caller }
    holders.add(holder)
    return () => {
      holders.delete(holder)
    }
  }

  return { hold, count: () => holders.size }
}

import type { Caller } from '../../model/caller.ts'
import { fromOf, type RowSelection } from '../../sql/selections.ts'
import { tableKeepsChanging } from '../../tables/failures.ts'

/**
 * Returns the caller whose `confirm` also checks that a request still reads the same of other tables: the rights on these
 * may end while the request waits. `before`: what `compose` returned when the request began.
 */
export const confirming = (caller: Caller, before: string, compose: () => string): Caller => ({
  ...caller,
  /** @throws TABLE_CHANGED, and what `compose` throws */
  confirm: async () => {
    await caller.confirm()
    if (compose() !== before) throw tableKeepsChanging()
  }
})

/** Returns the caller whose `confirm` also checks the joined tables of a selection. `read`: reads the request again. */
export const confirmingJoins = (caller: Caller, selection: RowSelection, read: () => RowSelection): Caller =>
  selection.joins.length === 0 ? caller : confirming(caller, fromOf(selection), () => fromOf(read()))

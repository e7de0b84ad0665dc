import type { Caller } from '../../model/caller.ts'
import { fromOf, type RowSelection } from '../../sql/selections.ts'
import { tableKeepsChanging } from '../../tables/failures.ts'

/**
 * Returns the caller with a `confirm` that also fails if the SQL for other tables has changed: a right to read them may end
 * while the request waits. `before`: the result of `compose` when the request began.
 */
export const confirmUnchanged = (caller: Caller, before: string, compose: () => string): Caller => ({
  ...caller,
  /** @throws TABLE_CHANGED, and what `compose` throws */
  confirm: async () => {
    await caller.confirm()
    if (compose() !== before) throw tableKeepsChanging()
  }
})

/** Does so for the joined records of a selection. `select`: reads the request again. */
export const confirmJoins = (caller: Caller, selection: RowSelection, select: () => RowSelection): Caller =>
  selection.joins.length === 0 ? caller : confirmUnchanged(caller, fromOf(selection), () => fromOf(select()))

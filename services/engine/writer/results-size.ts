import type { WriteResult } from '../database.ts'
import { MAX_UNIT_RESULTS, sizeOfRows } from '../shared/size.ts'
import { MAX_UNREAD, MIN_COUNTED_CHARACTERS, type UnreadText } from '../shared/unread-text.ts'

const resultsTooLarge = () =>
  Object.assign(new Error('The records that the change returns are too large.'), { code: 'RESULTS_TOO_LARGE' })

const tooMuchUnread = () =>
  Object.assign(new Error('Clients have not read earlier results.'), { code: 'TOO_MUCH_UNREAD' })

/**
 * Creates the check of one unit, to be called with the result of each statement. It fails inside the transaction: the
 * rows of a whole batch could be larger than the memory, and a committed change must get its response.
 */
export const createResultsCheck = (unread: UnreadText) => {
  let size = 0
  return (result: WriteResult) => {
    const added = sizeOfRows(result.rows)
    if (size > 0 && added > 0 && size + added > MAX_UNIT_RESULTS) throw resultsTooLarge()
    size += added
    if (size <= MIN_COUNTED_CHARACTERS) return
    const before = unread.characters()
    if (before > 0 && before + size > MAX_UNREAD) throw tooMuchUnread()
  }
}

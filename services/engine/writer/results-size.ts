import type { WriteResult } from '../database.ts'
import { sizeOf } from '../shared/size.ts'

/** Characters and bytes of the rows that the statements of a unit return. A single record may be larger. */
const MAX_UNIT_RESULTS = 8 * 2 ** 20

export const sizeOfRows = ({ rows }: WriteResult) => {
  let size = 0
  for (const row of rows) size += sizeOf(Object.values(row))
  return size
}

const resultsTooLarge = () =>
  Object.assign(new Error('The records that the change returns are too large.'), { code: 'RESULTS_TOO_LARGE' })

/**
 * Creates the check of one unit, to be called with the result of each statement. It fails inside the transaction: the
 * rows of a whole batch could be larger than the memory, and a committed change must get its response.
 */
export const createResultsCheck = () => {
  let size = 0
  return (result: WriteResult) => {
    const added = sizeOfRows(result)
    if (size > 0 && added > 0 && size + added > MAX_UNIT_RESULTS) throw resultsTooLarge()
    size += added
  }
}

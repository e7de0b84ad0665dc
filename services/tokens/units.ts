/** Rows of one unit. It must not delay other writes. */
const MAX_ROWS = 1000

/** Returns the items in lists of at most 1,000, for a unit of writes each. */
export const inUnits = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / MAX_ROWS) }, (_, n) => items.slice(n * MAX_ROWS, (n + 1) * MAX_ROWS))

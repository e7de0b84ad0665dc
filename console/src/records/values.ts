import type { Row } from './keys.ts'

/** Whether two values of records are the same JSON. */
export const isSameValue = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Whether two records have the same values in these fields. */
export const isSameIn = (names: readonly string[], one: Row, other: Row) =>
  names.every((name) => isSameValue(one[name], other[name]))

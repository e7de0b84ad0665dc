import { excerpt, pointer, type Violation } from './errors.ts'

/** Maximum nesting of a JSON value. Far below the limit of SQLite (1,000) and of the recursion here. */
const MAX_DEPTH = 100

/** Returns why SQLite should not store the text, or undefined. */
export const stringViolation = (text: string): Violation | undefined => {
  if (text.includes('\0')) return { code: 'format', message: 'contains a NUL character' }
  return text.isWellFormed()
    ? undefined
    : { code: 'format', message: 'contains an unpaired surrogate (invalid Unicode)' }
}

const within = (key: string, violation: Violation): Violation => ({
  ...violation,
  subPath: pointer(excerpt(key)) + (violation.subPath ?? '')
})

const itemViolation = (items: readonly unknown[], depth: number): Violation | undefined => {
  for (let index = 0; index < items.length; index += 1) {
    const violation = findViolation(items[index], depth)
    if (violation) return within(String(index), violation)
  }
  return undefined
}

const memberViolation = (value: object, depth: number): Violation | undefined => {
  if (depth === 0) return { code: 'depth', message: `is nested deeper than ${MAX_DEPTH} levels` }
  if (Array.isArray(value)) return itemViolation(value, depth - 1)
  for (const key of Object.keys(value)) {
    const violation = stringViolation(key) ?? findViolation(Reflect.get(value, key), depth - 1)
    if (violation) return within(key, violation)
  }
  return undefined
}

/** Returns the first violation at any depth of a JSON value: NUL, unpaired surrogates, numbers beyond a double. */
export const findViolation = (value: unknown, depth = MAX_DEPTH): Violation | undefined => {
  if (typeof value === 'string') return stringViolation(value)
  if (typeof value === 'object' && value !== null) return memberViolation(value, depth)
  const isInfinite = typeof value === 'number' && !Number.isFinite(value)
  return isInfinite ? { code: 'range', message: 'is outside the range of a 64-bit floating-point number' } : undefined
}

/**
 * Replaces each `bigint` member of a value by its text. Schemas accept no `bigint`, which a wide integer is in the body of a
 * token with numbers. Keys and counts accept text.
 */
export const wideIntegersAsText = (value: unknown) => {
  if (typeof value !== 'object' || value === null) return
  for (const name of Object.keys(value)) {
    const member: unknown = Reflect.get(value, name)
    if (typeof member === 'bigint') Reflect.set(value, name, String(member))
  }
}

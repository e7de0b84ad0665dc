/** A part of a document. */
export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Returns the object with each value converted. Anything else is returned as it is. */
export const mapValues = (value: unknown, convert: (item: unknown, key: string) => unknown): unknown =>
  isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convert(item, key)]))
    : value

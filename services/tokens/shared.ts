import { LRUCache } from 'lru-cache'

type Stored = string | number | null

/** The types keep NULL and the text 'null' apart. */
const keyOf = (values: readonly Stored[]) => values.map((value) => `${typeof value} ${value}`).join('\0')

/**
 * Creates the function that parses stored values. The same values return the same object, because many rows have the same.
 * `max`: maximum number of cached values. An evicted value is parsed again.
 */
export const createShared = <V extends readonly Stored[], T extends object>(
  max: number,
  parse: (...values: V) => T
) => {
  const cache = new LRUCache<string, T>({ max })

  return (...values: V): T => {
    const key = keyOf(values)
    const shared = cache.get(key) ?? parse(...values)
    cache.set(key, shared)
    return shared
  }
}

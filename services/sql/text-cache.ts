import type { RecordForm } from './record-text.ts'
import { createSharedCache } from './shared-cache.ts'

/** Limits of the cached texts, and of their characters: clients choose fields, order and filter. */
const TEXT_CACHE = {
  max: 1000,
  maxSize: 2 ** 20,
  sizeCalculation: (text: string, key: string) => text.length + key.length
}

/** Creates a cache of SQL texts: caches of statements find the same string faster. */
export const createTextCache = () => {
  const texts = createSharedCache<string>(TEXT_CACHE)
  const numbers = new WeakMap<RecordForm, number>()
  let count = 0

  const numberOf = (record: RecordForm) => {
    const known = numbers.get(record)
    if (known !== undefined) return known
    count += 1
    numbers.set(record, count)
    return count
  }

  /** `rest`: all that the text depends on besides the record. */
  return (record: RecordForm, rest: string, compose: () => string) => {
    const key = `${numberOf(record)} ${rest}`
    const cached = texts.get(key)
    if (cached !== undefined) return cached
    const sql = compose()
    texts.set(key, sql)
    return sql
  }
}

import type BetterSqlite3 from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { collectGarbage } from './garbage.ts'

const MAX_CACHED_STATEMENTS = 500

type Statement = BetterSqlite3.Statement<unknown[]>

interface CachedStatement {
  readonly statement: Statement
  isPlucked: boolean
}

/**
 * Creates the function that prepares the statements of a connection, and caches them. `maxLength`: characters of SQL in
 * the cache, and of SQL that is prepared between two runs of the garbage collector, which frees the statements that left
 * the cache. SQLite allocates 10 to 17 bytes for each character.
 */
export const createStatements = (raw: BetterSqlite3.Database, maxLength: number) => {
  const cache = new LRUCache<string, CachedStatement>({
    max: MAX_CACHED_STATEMENTS,
    maxSize: maxLength,
    sizeCalculation: (_, sql) => sql.length
  })
  let prepared = 0

  const prepareOnce = <Row>(sql: string) => {
    if (prepared + sql.length > maxLength) {
      prepared = 0
      collectGarbage()
    }
    prepared += sql.length
    return raw.prepare<unknown[], Row>(sql)
  }

  const cachedStatement = (sql: string) => {
    const hit = cache.get(sql)
    if (hit) return hit
    const entry = { statement: prepareOnce<unknown>(sql), isPlucked: false }
    cache.set(sql, entry)
    return entry
  }

  /** `isPlucked`: the statement returns the first column of each row. */
  const prepare = (sql: string, isPlucked = false): Statement => {
    const entry = cachedStatement(sql)
    if (entry.isPlucked !== isPlucked) {
      entry.statement.pluck(isPlucked)
      entry.isPlucked = isPlucked
    }
    return entry.statement
  }

  return { prepare, prepareOnce, countCharacters: () => cache.calculatedSize }
}

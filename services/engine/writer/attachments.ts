import { identifier, textLiteral } from '../../sql/identifiers.ts'
import type { Connection } from '../shared/connection.ts'
import type { Attachment } from '../shared/message.ts'
import { type PlainError, toPlainError } from '../shared/plain-error.ts'

/** MiB of database pages. Staged records are read once, in their order. */
const STAGED_CACHE_SIZE = 1
/**
 * MiB of database pages of the served file while records are stored. Most are stored in the order of the key, so more pages
 * would only take memory: 1,000,000 records took 57 MiB more with a cache of 64 MiB.
 */
const IMPORT_CACHE_SIZE = 8

const cacheSize = (schema: string, mebibytes: number) =>
  `PRAGMA ${identifier(schema)}.cache_size = ${-1024 * mebibytes}`

/**
 * Returns the function that attaches the staging files of imports to the connection, and detaches them. That is not
 * possible inside a transaction, so it is no unit. It returns the error, or null. `usualCacheSize`: MiB.
 */
export const createAttachments = ({ raw }: Connection, usualCacheSize: number) => {
  const attach = (file: string, schema: string) => {
    raw.exec(`ATTACH ${textLiteral(file)} AS ${identifier(schema)}`)
    raw.exec(cacheSize(schema, STAGED_CACHE_SIZE))
    raw.exec(cacheSize('main', Math.min(IMPORT_CACHE_SIZE, usualCacheSize)))
  }

  const detach = (schema: string) => {
    raw.exec(`DETACH ${identifier(schema)}`)
    raw.exec(cacheSize('main', usualCacheSize))
  }

  return ({ schema, file }: Attachment): PlainError | null => {
    try {
      if (file === null) detach(schema)
      else attach(file, schema)
      return null
    } catch (error) {
      return toPlainError(error)
    }
  }
}

import { textLiteral } from '../../sql/identifiers.ts'
import { openConnection } from '../shared/connection.ts'
import { type ImportErrors, joinErrors } from './import-errors.ts'
import type { StagedCheck, StagingThreadOptions } from './protocol.ts'

const BUSY_TIMEOUT_MS = 2000
/** MiB of database pages. */
const CACHE_SIZE = 16

/** Compares the staged records with the stored ones, on a connection that cannot write. */
export const runChecks = (
  { servedFile, stagingFile }: StagingThreadOptions,
  checks: readonly StagedCheck[]
): ImportErrors => {
  const connection = openConnection({
    file: servedFile,
    readonly: true,
    busyTimeout: BUSY_TIMEOUT_MS,
    cacheSize: CACHE_SIZE
  })
  try {
    connection.raw.exec(`ATTACH ${textLiteral(stagingFile)} AS staged`)
    return joinErrors(
      checks.map(({ sql, params, column, code, message }) => {
        const rows = connection.rows(sql, params)
        const first = rows.map(({ line }) => ({ line: Number(line), column, code, message }))
        // Each row has the total.
        return { total: Math.max(0, ...rows.map(({ total }) => Number(total))), first }
      })
    )
  } finally {
    connection.close()
  }
}

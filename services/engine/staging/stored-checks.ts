import { textLiteral } from '../../sql/identifiers.ts'
import { recordsInFile, selectWrong } from '../../sql/staged-checks.ts'
import { openConnection } from '../shared/connection.ts'
import { errorsOfRows, type ImportErrors, joinErrors, MAX_IMPORT_ERRORS } from './import-errors.ts'
import type { StagedCheck, StagingThreadOptions } from './protocol.ts'

const BUSY_TIMEOUT_MS = 2000
/** MiB of database pages. */
const CACHE_SIZE = 16

/** Runs checks of the staged records on a connection that cannot write. It reads the stored records, too, if it may. */
export const runChecks = (
  { servedFile, stagingFile }: StagingThreadOptions,
  checks: readonly StagedCheck[]
): ImportErrors => {
  const connection = openConnection({
    file: servedFile ?? stagingFile,
    readonly: true,
    busyTimeout: BUSY_TIMEOUT_MS,
    cacheSize: CACHE_SIZE
  })
  try {
    if (servedFile !== null) connection.raw.exec(`ATTACH ${textLiteral(stagingFile)} AS staged`)
    return joinErrors(
      checks.map((check) => {
        const { sql, params } = selectWrong(check, recordsInFile(check), MAX_IMPORT_ERRORS)
        return errorsOfRows(check, connection.rows(sql, params))
      })
    )
  } finally {
    connection.close()
  }
}

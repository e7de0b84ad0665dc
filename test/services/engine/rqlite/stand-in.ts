import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Test } from 'tap'
import { toReadError } from '../../../../services/engine/loop/sqlite-errors.ts'
import { createStagingFiles } from '../../../../services/engine/loop/staging-files.ts'
import { createHeldReaders } from '../../../../services/engine/rqlite/held-readers.ts'
import { createClusterStagings } from '../../../../services/engine/rqlite/stagings.ts'
import { openConnection } from '../../../../services/engine/shared/connection.ts'
import { toPlainError } from '../../../../services/engine/shared/plain-error.ts'
import type { Row } from '../../../../services/model/sql-value.ts'
import type { Statement } from '../../../../services/sql/statement.ts'
import { temporaryDirectory } from '../../../fixtures.ts'

/** Opens a connection that reads a file as a cluster does: statements in one snapshot, without ATTACH and TEMP tables. */
const openStandIn = (t: Test, file: string) => {
  const connection = openConnection({ file, readonly: true, busyTimeout: 2000, cacheSize: 2 })
  t.teardown(() => connection.close())
  connection.raw.function('alive', () => 1)
  connection.raw.pragma('temp_store = MEMORY')
  const run = connection.raw.transaction((statements: readonly Statement[]) =>
    statements.map(({ sql, params }) => connection.rows(sql, params))
  )
  const sent: Statement[] = []
  const query = async (statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> => {
    sent.push(...statements)
    try {
      return run(statements)
    } catch (error) {
      throw toReadError(toPlainError(error))
    }
  }
  return {
    query,
    scan: async (statement: Statement) => (await query([statement]))[0] as readonly Row[],
    /** The statements so far. */
    sent
  }
}

/** Returns the parts of the engine for a cluster, on a connection that cannot attach files. */
export const startClusterParts = (t: Test, file: string) => {
  const { query, scan, sent } = openStandIn(t, file)
  const stagingFiles = createStagingFiles(temporaryDirectory(t), 'cluster')
  stagingFiles.prepare()
  const stagings = createClusterStagings({ stagingFiles, query })
  const readers = createHeldReaders({ stagingFiles, scan })
  t.teardown(() => Promise.all([stagings.close(), readers.close()]))
  const files = () => readdirSync(dirname(stagingFiles.newPath()))
  return { stagings, readers, sent, files }
}

import type { Row } from '../../model/sql-value.ts'
import { fromJsonRows, rowJson } from '../../sql/json-rows.ts'
import type { Statement } from '../../sql/statement.ts'
import type { HeldReader, ScanCaller } from '../database.ts'
import { createHolders } from '../loop/holders.ts'
import { toReadError } from '../loop/sqlite-errors.ts'
import type { StagingFiles } from '../loop/staging-files.ts'
import { engineStopped } from '../shared/plain-error.ts'
import { type CollectedRows, createCollectedRows } from './collected-rows.ts'

interface HeldReadersOptions {
  readonly stagingFiles: StagingFiles
  /** Runs an unbounded statement. */
  readonly scan: (statement: Statement) => Promise<readonly Row[]>
}

const COLLECTED = '_rowhouse_keys'

const columnNames = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`)

/** Selects the JSON of each row, in the order of the statement. */
const selectJson = ({ sql, params }: Statement, names: readonly string[]): Statement => ({
  sql: `WITH ${COLLECTED} (${names.join(', ')}) AS (${sql}) SELECT ${rowJson(names)} AS json FROM ${COLLECTED}`,
  params
})

/** Nothing is held in the cluster: the collected rows are in a local file, and each step sends its part of them. */
export const createHeldReaders = ({ stagingFiles, scan }: HeldReadersOptions) => {
  const holders = createHolders()
  const open = new Set<() => void>()

  const hold = (caller: ScanCaller): HeldReader => {
    const free = holders.hold(caller)
    let names: readonly string[] = []
    let collected: CollectedRows | undefined
    const release = () => {
      free()
      open.delete(release)
      collected?.remove()
      collected = undefined
    }
    open.add(release)
    const assertOpen = () => {
      if (!open.has(release)) throw toReadError(engineStopped)
    }

    return {
      scan,
      scanChunk: async (statement) => (await scan(statement))[0],
      collect: async (keys, keyCount) => {
        names = columnNames(keyCount)
        const rows = await scan(selectJson(keys, names))
        assertOpen()
        collected = createCollectedRows(stagingFiles.newPath())
        await collected.add(
          rows.map(({ json }) => String(json)),
          () => open.has(release)
        )
        assertOpen()
        return rows.length
      },
      collected: (after, rows) => {
        assertOpen()
        return fromJsonRows(['position', ...names], (collected as CollectedRows).read(after, rows))
      },
      release: async () => release()
    }
  }

  /** Releases all readers. */
  const close = () => {
    for (const release of open) release()
  }

  return { hold, close, countHeld: holders.count }
}

import type { LoggedImport } from '../../../schemas/import.ts'
import { type AuditEntry, auditRow } from '../../audit/audit-row.ts'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { DomainError } from '../../model/errors.ts'
import { whenUnlocked } from './lock-waits.ts'
import {
  failImport,
  insertImport,
  type NewImportRow,
  selectImports,
  toLoggedImport,
  updateProgress
} from './log-statements.ts'
import type { ImportOptions } from './plan.ts'
import type { CheckedFile, ImportEntry } from './steps.ts'

type LoggedRow = ReturnType<typeof toLoggedImport>

/** A step of an import is much shorter, also with its retries. */
const MAX_STEP_MS = 60_000

interface ImportLogOptions {
  readonly db: Database
  readonly clock: Clock
  /** Called with an error that does not end the import, for the log of the service. */
  readonly onFailure: (error: unknown) => void
}

const messageOf = (error: unknown) => (error instanceof DomainError ? error.message : 'The service failed.')

/** Returns the entry of an import that begins. Its row in the list of imports shows how it ends. */
const importEntry = (added: NewImportRow, { isUpsert }: ImportOptions): AuditEntry => {
  const { tableId: targetId, table: target, file, format, totalRows, storedRows } = added
  const summary = { rows: totalRows - storedRows, isUpsert, isNewTable: targetId === null, format, file }
  return { action: 'import', target, targetId, summary }
}

/** Keeps a row for each import that stores records, so that what a crash or an error leaves is known. */
export const createImportLog = ({ db, clock, onFailure }: ImportLogOptions) => {
  const running = new Set<number>()

  const insert = async (caller: Caller, { plan, file }: CheckedFile, tableId: number | null) => {
    const { rows, skipped } = file
    const now = clock()
    const added = {
      tableId,
      table: plan.access.table.name,
      file: plan.options.fileName,
      format: plan.options.format.type,
      callerKind: caller.kind,
      callerName: caller.name,
      storedRows: skipped,
      totalRows: rows + skipped,
      now
    }
    const unit = [...insertImport(added, [...running]), auditRow(caller, now, importEntry(added, plan.options))]
    const results = await whenUnlocked(() => db.write(unit))
    return Number(results.at(-2)?.rows[0]?.id)
  }

  const fail = async (id: number, error: unknown) => {
    try {
      await whenUnlocked(() => db.write([failImport({ id, error: messageOf(error), now: clock() })]))
    } catch (failure) {
      // Without its process, the import is listed as interrupted.
      onFailure(failure)
    }
  }

  /** Adds a row for the import that `store` does. `tableId`: null if it creates the table. */
  const record = async <T>(
    caller: Caller,
    checked: CheckedFile,
    tableId: number | null,
    store: (entry: ImportEntry) => Promise<T>
  ): Promise<T> => {
    const id = await insert(caller, checked, tableId)
    const logFailure = async (error: unknown) => {
      await fail(id, error)
      throw error
    }
    running.add(id)
    try {
      return await store({
        progress: (createdId, storedRows) => updateProgress({ id, tableId: createdId, storedRows, now: clock() })
      }).catch(logFailure)
    } finally {
      running.delete(id)
    }
  }

  /** Another service of a cluster updates the row of its running import with each step. */
  const isOfOther = ({ updatedAt }: LoggedRow) => db.catchUp !== null && clock() - updatedAt < MAX_STEP_MS

  /** A row that no import of a running process updates is that of an earlier process. */
  const stateOf = (row: LoggedRow) =>
    row.state === 'running' && !running.has(row.id) && !isOfOther(row) ? 'interrupted' : row.state

  /** Returns the latest imports, the latest first. */
  const list = async (): Promise<LoggedImport[]> => {
    const rows = await db.read(selectImports)
    return rows.map((row) => {
      const logged = toLoggedImport(row)
      return { ...logged, state: stateOf(logged) }
    })
  }

  return { record, list }
}

export type ImportLog = ReturnType<typeof createImportLog>

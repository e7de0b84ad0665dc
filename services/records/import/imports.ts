import type { BodyChunks, ImportResult } from '../../../schemas/import.ts'
import type { Database, Staging } from '../../engine/database.ts'
import { type ImportErrors, joinErrors } from '../../engine/staging/import-errors.ts'
import type { ImportFormat, StagedFile } from '../../engine/staging/protocol.ts'
import { type Caller, identityOf } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { DomainError, hasCode, invalid, overloaded, pointer } from '../../model/errors.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { selectImportTarget, toImportTarget } from '../../sql/imports.ts'
import { assertTable } from '../../tables/assert-table.ts'
import { storedTableGone } from '../../tables/failures.ts'
import type { Access } from '../access/access.ts'
import type { Commit } from '../change/commit.ts'
import type { Once } from '../change/retries.ts'
import type { RowCosts } from '../change/row-costs.ts'
import { assertFitsOneUnit, createAtomicImports, digestBody } from './atomic-imports.ts'
import { checksOf, countUpdates, withoutHiddenNames } from './checks.ts'
import { createImportLog } from './log.ts'
import { changedFields, type ImportOptions, type ImportPlan, planImport } from './plan.ts'
import { createStepSizes } from './step-sizes.ts'
import { type CheckedFile, createImportSteps, type ImportEntry } from './steps.ts'

interface ImportServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly commit: Commit
  readonly once: Once
  readonly rowCosts: RowCosts
  /** Returns the table as it is now. */
  readonly currentTable: (id: number) => RegisteredTable
  /** Called with an error of the clean-up, which does not change the response. */
  readonly onFailure: (error: unknown) => void
}

/** The import of a file whose first records have been read. */
interface NewImport {
  readonly plan: ImportPlan
  readonly body: BodyChunks
}

const MAX_IMPORTS = 4
const RETRY_AFTER_SECONDS = 5

/** `format`: of the file. */
export const importFailed = ({ total, first }: ImportErrors, { type }: ImportFormat) =>
  new DomainError(
    'IMPORT_FAILED',
    `${total} ${total === 1 ? 'error was' : 'errors were'} found in the file. Nothing was imported.`,
    {
      total,
      details: first.map(({ line, column, code, message }) => ({
        path: column === null ? '' : pointer(column),
        code,
        message,
        ...(type === 'json' ? { record: line } : { line }),
        ...(column !== null && { column })
      }))
    }
  )

/** SQL has no statement that stores several records of default values. */
const hasColumns = ({ staging }: ImportPlan, { fields, rows }: StagedFile) =>
  rows === 0 || fields.length + staging.fallbacks.length > 0

const noFields = () => invalid([{ path: '', code: 'required', message: 'The records of the file have no field.' }])

const fewerRecords = (rows: number) =>
  invalid([{ path: '/skip', code: 'maximum', message: `The file has only ${rows} records, fewer than 'skip'.` }])

const stopping = () => overloaded('The service is stopping. Nothing was imported.', RETRY_AFTER_SECONDS)

/** Imports files into tables. A file is checked in a thread of its own before the first record is stored. */
export const createImportService = (options: ImportServiceOptions) => {
  const { db, clock, rowCosts, onFailure } = options
  const sizes = createStepSizes(rowCosts)
  const storeAll = createImportSteps({ ...options, sizes })
  const storeAtOnce = createAtomicImports(options)
  const log = createImportLog({ db, clock, onFailure })
  const running = new Set<string>()
  const stopped = new AbortController()

  /** Rejects when the service stops. */
  const untilStop = () => {
    const { signal } = stopped
    signal.throwIfAborted()
    let stop!: () => void
    const promise = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop)
    })
    promise.catch(() => {})
    return { promise, end: () => signal.removeEventListener('abort', stop) }
  }

  const begin = (caller: Caller) => {
    const name = identityOf(caller)
    if (running.has(name))
      throw overloaded('An import of this caller is running. Try again when it has ended.', RETRY_AFTER_SECONDS)
    if (running.size >= MAX_IMPORTS)
      throw overloaded('Four imports are running. Try again when one has ended.', RETRY_AFTER_SECONDS)
    running.add(name)
    return () => running.delete(name)
  }

  const send = async (staging: Staging, body: BodyChunks): Promise<StagedFile> => {
    for await (const chunk of body) await staging.write(chunk)
    return staging.end()
  }

  const check = async ({ plan, staging, file, isOneStep }: CheckedFile) => {
    if (file.errors.total === 0 && file.skipped < plan.options.skip) throw fewerRecords(file.skipped)
    assertFitsOneUnit(plan, file)
    const stored = await staging.check(checksOf(plan, file.fields, { isOneStep }))
    const errors = joinErrors([withoutHiddenNames(plan, file.errors), stored])
    if (errors.total > 0) throw importFailed(errors, plan.options.format)
    if (!hasColumns(plan, file)) throw noFields()
  }

  const predict = async ({ plan, staging, file: { rows, fields } }: CheckedFile) => {
    const { on } = plan
    const known = on ? (await staging.check([countUpdates(plan, on)])).total : 0
    return { created: rows - known, updated: changedFields(plan, fields).length > 0 ? known : 0 }
  }

  /** Stages the file, and calls `use` with it. `assertNoErrors` throws if the file has errors. */
  const withStaged = async <T>(
    caller: Caller,
    { plan, body }: NewImport,
    use: (file: CheckedFile, assertNoErrors: () => Promise<void>) => Promise<T>
  ): Promise<T> => {
    const stop = untilStop()
    const staging = db.stage(plan.staging)
    try {
      const file = await Promise.race([send(staging, body), stop.promise])
      const checked = { plan, staging, file, isOneStep: sizes.isOneStep(plan, file) }
      const assertNoErrors = async () => {
        await Promise.race([check(checked), stop.promise])
        await caller.confirm()
      }
      return await use(checked, assertNoErrors)
    } finally {
      stop.end()
      await staging.close().catch(onFailure)
    }
  }

  /** Stages the file, and calls `use` if it has no errors. */
  const withFile = <T>(caller: Caller, added: NewImport, use: (checked: CheckedFile) => Promise<T>): Promise<T> =>
    withStaged(caller, added, async (checked, assertNoErrors) => {
      await assertNoErrors()
      return use(checked)
    })

  /** Stores the file in one transaction, or in steps if it has too many records or they take too long. */
  const store = async (caller: Caller, access: Access, checked: CheckedFile, entry: ImportEntry) => {
    try {
      return { ...(await storeAll(caller, access, checked, entry)), atomic: checked.isOneStep }
    } catch (error) {
      if (!checked.isOneStep || !hasCode(error, 'TOO_MUCH_WORK')) throw error
      // The cost of a row was not known, and nothing is stored.
      const divided = { ...checked, isOneStep: false }
      await check(divided)
      return { ...(await storeAll(caller, access, divided, entry)), atomic: false }
    }
  }

  const run = (caller: Caller, access: Access, added: NewImport): Promise<ImportResult> =>
    withFile(caller, added, async (checked) => {
      const { rows, skipped } = checked.file
      const record = () =>
        log.record(caller, checked, access.table.id, (entry) => store(caller, access, checked, entry))
      if (!added.plan.options.isDryRun) return { rows: rows + skipped, ...(await record()), dryRun: false }
      return { rows: rows + skipped, ...(await predict(checked)), atomic: checked.isOneStep, dryRun: true }
    })

  const runAtomic = async (caller: Caller, access: Access, { plan, body }: NewImport): Promise<ImportResult> => {
    const { chunks, complete } = digestBody(caller, plan.options, body)
    const stored = await withStaged(caller, { plan, body: chunks }, (checked, check) =>
      storeAtOnce(complete(), access, checked, {
        check,
        record: (store) => log.record(caller, checked, access.table.id, store)
      })
    )
    return { ...stored, atomic: true, dryRun: false }
  }

  const planFor = async (access: Access, options: ImportOptions) => {
    const { name, structure } = access.table
    const [row] = await db.read(selectImportTarget(name))
    const target = toImportTarget(row, structure)
    if (!target) throw storedTableGone(name)
    return planImport(access, target, options, clock())
  }

  /**
   * Imports a file: all of its records, or none if one of them is wrong.
   * @throws TABLE_READ_ONLY, TABLE_CHANGED, VALIDATION_FAILED, IMPORT_FAILED, IMPORT_STOPPED, OVERLOADED
   */
  const importFile = async (caller: Caller, access: Access, options: ImportOptions, body: BodyChunks) => {
    assertTable(access.table)
    const end = begin(caller)
    try {
      const added = { plan: await planFor(access, options), body }
      return await (options.isAtomic && !options.isDryRun ? runAtomic : run)(caller, access, added)
    } finally {
      end()
    }
  }

  /**
   * Checks a file for a table that does not exist yet, and calls `use` if it has no errors. `read` plans the import by
   * the first records.
   * @throws VALIDATION_FAILED, IMPORT_FAILED, OVERLOADED
   */
  const importNew = async <S extends NewImport, T>(
    caller: Caller,
    read: () => Promise<S>,
    use: (start: S, checked: CheckedFile) => Promise<T>
  ): Promise<T> => {
    const end = begin(caller)
    const stop = untilStop()
    try {
      const start = await Promise.race([read(), stop.promise])
      return await withFile(caller, start, (checked) => use(start, checked))
    } finally {
      stop.end()
      end()
    }
  }

  return {
    importFile,
    importNew,
    storeAll,
    /** Adds a row to the list of imports. */
    record: log.record,
    /** Returns the latest imports, the latest first. */
    list: log.list,
    /** Ends the imports that have stored nothing yet. */
    stop: () => stopped.abort(stopping())
  }
}

export type ImportService = ReturnType<typeof createImportService>

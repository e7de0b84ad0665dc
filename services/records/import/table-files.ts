import type { BodyChunks } from '../../../schemas/import.ts'
import type { NewTable } from '../../../schemas/new-table.ts'
import { UnreadableFile } from '../../engine/staging/import-errors.ts'
import { type Caller, serviceCaller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { DomainError, hasCode } from '../../model/errors.ts'
import { isRequired, type RegisteredTable } from '../../model/table.ts'
import { createTableSql } from '../../sql/ddl.ts'
import { NO_SEARCH_INDEX } from '../../tables/registry/search-state.ts'
import type { TableService } from '../../tables/tables.ts'
import type { AccessOf } from '../access/access-of.ts'
import { readSample } from './file-samples.ts'
import { type ImportService, importFailed } from './imports.ts'
import { type Inferred, inferFields } from './inferred-fields.ts'
import { whenUnlocked } from './lock-waits.ts'
import { type ImportOptions, planImport } from './plan.ts'
import type { CheckedFile } from './steps.ts'

interface TableFileOptions {
  readonly tables: TableService
  readonly imports: ImportService
  readonly clock: Clock
  readonly accessOf: AccessOf
  /** Called with an error of the clean-up, which does not hide the first one. */
  readonly onFailure: (error: unknown) => void
}

/** What a request chooses of a table from a file. */
interface FileTable extends Pick<NewTable, 'name' | 'label'> {
  /** The fields of the key. Without it, the key is a field `id`. */
  readonly primaryKey?: readonly string[]
}

interface TableFromFile extends Inferred {
  readonly created: number
  /** null after a dry run. */
  readonly table: RegisteredTable | null
}

/** Adds to the error what has become of the new table. */
const withOutcome = (error: unknown, text: string, hint: string) => {
  if (!(error instanceof DomainError)) return error
  const { code, message, details, cause } = error
  return Object.assign(new DomainError(code, `${message} ${text}`, { details, hint }), { cause })
}

/** The records that were stored are gone with the table. */
const tableRemoved = (error: unknown) =>
  hasCode(error, 'IMPORT_STOPPED')
    ? withOutcome(error, 'The table was removed.', 'Correct the cause. Then send the whole file again.')
    : error

const tableLeft = (error: unknown, { id, name }: RegisteredTable) =>
  withOutcome(
    error,
    `The new table '${name}' could not be removed.`,
    `Remove it: DELETE /admin/tables/${id}?drop=true&confirm=true. GET /admin/imports shows how many records it has.`
  )

const sampleOf = async ({ format }: ImportOptions, chunks: BodyChunks) => {
  try {
    return await readSample(format, chunks)
  } catch (error) {
    throw error instanceof UnreadableFile ? importFailed({ total: 1, first: [error.reason] }, format) : error
  }
}

/** Creates tables from files. */
export const createTableFileService = ({ tables, imports, clock, accessOf, onFailure }: TableFileOptions) => {
  const planFor = async (table: NewTable, options: ImportOptions) => {
    const { structure, declarations } = await tables.declare(table)
    const columns = new Map(structure.columns.map((column) => [column.name, column]))
    const access = {
      table: { name: table.name, structure, searchIndex: NO_SEARCH_INDEX },
      columns,
      accepted: columns,
      presets: [],
      writable: new Set(structure.columns),
      rows: null,
      required: structure.columns.filter((column) => isRequired(structure, column))
    }
    // No stored record can have the same key.
    const target = {
      declarations: [createTableSql(table.name, declarations, structure.key)],
      uniqueKeys: [],
      uniqueIndexes: []
    }
    const plan = planImport(access, target, options, clock())
    return { ...plan, staging: { ...plan.staging, keepsDigits: true } }
  }

  /** Infers the table from the first records. After an error the rest of the body is discarded. */
  const read = async ({ primaryKey, ...names }: FileTable, options: ImportOptions, chunks: BodyChunks) => {
    try {
      const { sample, body } = await sampleOf(options, chunks)
      const inferred = inferFields(sample, options.names, primaryKey)
      const table: NewTable = { ...names, fields: inferred.fields }
      return { table, inferred, body, plan: await planFor(table, options) }
    } catch (error) {
      await chunks.return()
      throw error
    }
  }

  /** Drops the table. Returns the error for the caller, who may have lost the right to drop it. */
  const removeIncomplete = async (created: RegisteredTable, error: unknown) => {
    try {
      await whenUnlocked(() => tables.drop(serviceCaller, created.id, true))
      return tableRemoved(error)
    } catch (failure) {
      onFailure(failure)
      return tableLeft(error, created)
    }
  }

  /** Creates the table and stores the records. A table without all of its records is dropped. */
  const store = (caller: Caller, table: NewTable, checked: CheckedFile) =>
    imports.record(caller, checked, null, async (entry) => {
      const created = await whenUnlocked(() => tables.create(caller, table, { isPublished: false }))
      try {
        await imports.storeAll(caller, accessOf(caller, created, []), checked, entry)
      } catch (error) {
        throw await removeIncomplete(created, error)
      }
      return created
    })

  /**
   * Creates a table with the fields and the records of a file. It is not published, so that no token reads a part of it.
   * @throws TABLE_EXISTS, TABLE_REGISTERED, VALIDATION_FAILED, IMPORT_FAILED, IMPORT_STOPPED, OVERLOADED
   */
  const createFromFile = (
    caller: Caller,
    fileTable: FileTable,
    options: ImportOptions,
    chunks: BodyChunks
  ): Promise<TableFromFile> =>
    imports.importNew(
      caller,
      () => read(fileTable, options, chunks),
      async ({ inferred, table }, checked) => ({
        ...inferred,
        created: checked.file.rows,
        table: options.isDryRun ? null : await store(caller, table, checked)
      })
    )

  return { createFromFile }
}

export type TableFileService = ReturnType<typeof createTableFileService>

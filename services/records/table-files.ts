import type { BodyChunks } from '../../schemas/import.ts'
import type { NewTable } from '../../schemas/table.ts'
import { UnreadableFile } from '../engine/staging/import-errors.ts'
import { type Caller, serviceCaller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'
import { isRequired, type RegisteredTable } from '../model/table.ts'
import { createTableSql } from '../sql/ddl.ts'
import type { TableService } from '../tables/tables.ts'
import { readSample } from './file-samples.ts'
import { type ImportOptions, planImport } from './import-plan.ts'
import type { CheckedFile } from './import-steps.ts'
import { type ImportService, importFailed } from './imports.ts'
import { type Inferred, inferFields } from './inferred-fields.ts'
import type { View } from './view.ts'

interface TableFileOptions {
  readonly tables: TableService
  readonly imports: ImportService
  readonly clock: Clock
  readonly viewOf: (table: RegisteredTable) => View
}

type NewNames = Pick<NewTable, 'name' | 'label'>

interface TableFromFile extends Inferred {
  readonly created: number
  /** null after a dry run. */
  readonly table: RegisteredTable | null
}

/** The records that were stored are gone with the table. */
const withoutRest = (error: unknown) => {
  if (!(error instanceof DomainError) || error.code !== 'IMPORT_STOPPED') return error
  const { code, message, details, cause } = error
  const hint = 'Correct the cause. Then send the whole file again.'
  return Object.assign(new DomainError(code, `${message} The table was removed.`, { details, hint }), { cause })
}

const sampleOf = async ({ format }: ImportOptions, chunks: BodyChunks) => {
  try {
    return await readSample(format, chunks)
  } catch (error) {
    throw error instanceof UnreadableFile ? importFailed({ total: 1, first: [error.reason] }) : error
  }
}

/** Creates tables from files. */
export const createTableFileService = ({ tables, imports, clock, viewOf }: TableFileOptions) => {
  const planFor = async (table: NewTable, options: ImportOptions) => {
    const { structure, declarations } = await tables.declare(table)
    const view = {
      table: { name: table.name, structure },
      columns: new Map(structure.columns.map((column) => [column.name, column])),
      required: structure.columns.filter((column) => isRequired(structure, column))
    }
    // No stored record can have the same key.
    const target = { declarations: [createTableSql(table.name, declarations, structure.key)], uniqueKeys: [] }
    const plan = planImport(view, target, options, clock())
    return { ...plan, staging: { ...plan.staging, keepsDigits: true } }
  }

  /** Infers the table from the first records. After an error the rest of the body is discarded. */
  const read = async (names: NewNames, options: ImportOptions, chunks: BodyChunks) => {
    try {
      const { sample, body } = await sampleOf(options, chunks)
      const inferred = inferFields(sample, options.names)
      const table: NewTable = { ...names, fields: inferred.fields }
      return { table, inferred, body, plan: await planFor(table, options) }
    } catch (error) {
      await chunks.return()
      throw error
    }
  }

  /** Creates the table and stores the records. A table without all of its records is dropped. */
  const store = async (caller: Caller, table: NewTable, checked: CheckedFile) => {
    const created = await tables.create(caller, table, { isPublished: false })
    try {
      await imports.storeAll(caller, viewOf(created), checked)
    } catch (error) {
      await tables.drop(serviceCaller, created.id, true)
      throw withoutRest(error)
    }
    return created
  }

  /**
   * Creates a table with the fields and the records of a file. It is not published, so that no token reads a part of it.
   * @throws TABLE_EXISTS, TABLE_REGISTERED, VALIDATION_FAILED, IMPORT_FAILED, IMPORT_STOPPED, OVERLOADED
   */
  const createFromFile = (
    caller: Caller,
    names: NewNames,
    options: ImportOptions,
    chunks: BodyChunks
  ): Promise<TableFromFile> =>
    imports.importNew(
      caller,
      () => read(names, options, chunks),
      async ({ inferred, table }, checked) => ({
        ...inferred,
        created: checked.file.rows,
        table: options.isDryRun ? null : await store(caller, table, checked)
      })
    )

  return { createFromFile }
}

export type TableFileService = ReturnType<typeof createTableFileService>

import type { NewField } from '../../../schemas/new-table.ts'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { hasCode, invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type { RegisteredTable, Structure } from '../../model/table.ts'
import { addColumnSql, compileForeignKeys } from '../../sql/ddl.ts'
import { createIndex } from '../../sql/indexes.ts'
import { assertTable } from '../assert-table.ts'
import { tableEntry } from '../audited-table.ts'
import { fieldExists, fieldNameTaken, sameDefault, tableOutdated } from '../failures.ts'
import { extendedChoices } from '../registry/choices.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { withColumn } from '../registry/structure.ts'
import { updateChoices } from '../registry/table-statements.ts'
import type { SearchIndexes } from '../search/indexes.ts'
import { openToTokens } from '../token-access.ts'
import { checkDefaults, checkFieldName, isReservedFieldName } from './field-rules.ts'
import { freeIndexName } from './index-names.ts'
import { declareField } from './new-table.ts'
import { NOTHING_REFERABLE, referenceFinder } from './references.ts'
import type { TableWrites } from './table-writes.ts'
import type { StructureChange, TryChange } from './trials.ts'

interface FieldAdditionsOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly writes: TableWrites
  readonly searchIndexes: SearchIndexes
  readonly tryChange: TryChange
}

/** Leaves room for the JSON of a record and for SQLite's limit of 2,000 columns. */
const MAX_FIELDS = 1000

/** Creates the function that adds a field to a stored table. */
export const createFieldAdditions = (options: FieldAdditionsOptions) => {
  const { db, registry, clock, writes, searchIndexes, tryChange } = options

  const checkRoomFor = (caller: Caller, name: string, { columns }: Structure) => {
    if (columns.some((column) => foldName(column.name) === foldName(name))) throw fieldExists(name)
    if (caller.kind === 'token' && isReservedFieldName(name)) throw fieldNameTaken(name)
    checkFieldName(name, '/field')
    if (columns.length < MAX_FIELDS) return
    throw invalid([{ path: '/field', code: 'range', message: `A table has at most ${MAX_FIELDS} fields.` }])
  }

  /**
   * Adds a field to a table. A token needs a published and editable table.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, FIELD_EXISTS, VALIDATION_FAILED,
   * UNIQUE_VIOLATION
   */
  const addField = async (
    caller: Caller,
    id: number,
    field: NewField,
    isReferable = NOTHING_REFERABLE
  ): Promise<RegisteredTable> => {
    registry.get(id) // A table that does not exist is reported before errors of the field.
    const { index, ...declaration } = declareField(field)
    const { column } = declaration
    const sent = field.references && { column, references: field.references, path: '/field' }
    const changeOf = async (table: RegisteredTable): Promise<StructureChange> => {
      if (caller.kind === 'token') openToTokens(table, table.name, { isWrite: true, reachable: () => [] })
      const { name, choices, structure } = table
      checkRoomFor(caller, column.name, structure)
      assertTable(table)
      if (table.isOutdated) throw tableOutdated(name)
      checkDefaults(structure.columns, [column], () => '/field')
      const references = sent && referenceFinder(registry.find, isReferable, { name, columns: structure.columns })(sent)
      const unit = [
        { sql: addColumnSql(name, { ...declaration, references }), params: [] },
        ...(index ? [createIndex(await freeIndexName(db, name, index), name, index)] : []),
        ...(references ? [compileForeignKeys(name, column.name)] : []),
        ...(await searchIndexes.rebuild(caller, table, withColumn(structure, column))),
        updateChoices(table, await extendedChoices(choices, column), clock())
      ]
      const { jsonType, isHidden } = column
      const summary = { field: column.name, jsonType, isHidden }
      return { unit, entries: [tableEntry(table, 'field.add', summary)] }
    }
    try {
      if (sent) return await writes.restructure(caller, id, changeOf)
      const triedChangeOf = async (table: RegisteredTable) => tryChange(caller, await changeOf(table))
      return await writes.change(caller, id, triedChangeOf, (known) => (known ? withColumn(known, column) : null))
    } catch (error) {
      // The table may have the field without showing it, or without having registered it.
      if (caller.kind === 'token' && hasCode(error, 'FIELD_EXISTS')) throw fieldNameTaken(column.name)
      throw hasCode(error, 'UNIQUE_VIOLATION') ? sameDefault(column.name) : error
    }
  }

  return addField
}

import type { FieldRedefinition } from '../../schemas/table.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { type DomainError, hasCode } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { Column, RegisteredTable, Registration } from '../model/table.ts'
import {
  compileView,
  dropColumn,
  dropTable,
  expectSchemaVersion,
  expectUnreferred,
  expectUnreferredColumn,
  FOREIGN_KEYS_OFF,
  renameColumn,
  selectDependents,
  selectReferring,
  selectSchemaVersion,
  setNotNull
} from '../sql/alter.ts'
import { checksIn } from '../sql/declared-rules.ts'
import { findNull, findUnfitting, weighTable } from '../sql/fitting.ts'
import { dropIndex, selectIndexes, toIndexes } from '../sql/indexes.ts'
import { selectDeclarations } from '../sql/introspection.ts'
import { declaresAutoIncrement, nameIn, tokenTexts } from '../sql/lexer.ts'
import { countViolations, expectViolations, rebuildTable, redefined } from '../sql/rebuild.ts'
import { dropSearchIndex } from '../sql/search-index.ts'
import type { Unit } from '../sql/statement.ts'
import {
  assertTable,
  lossNotConfirmed,
  storedFieldGone,
  structureInUse,
  tableChanged,
  tableOutdated,
  tableTooLarge,
  valuesDoNotFit
} from './failures.ts'
import {
  choicesAfter,
  choicesWithout,
  type FieldChange,
  fieldOf,
  readFieldChange,
  structureAfter
} from './field-changes.ts'
import type { TableRegistry } from './registry.ts'
import { isOwn } from './reserved-names.ts'
import type { SearchIndexes } from './search-indexes.ts'
import { createStoredTables } from './stored-tables.ts'
import { readView } from './stored-views.ts'
import { deleteTable, updateChoices } from './table-statements.ts'
import type { TableWrites } from './table-writes.ts'

interface RestructuringOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly writes: TableWrites
  readonly searchIndexes: SearchIndexes
  readonly countStored: (caller: Caller, table: Registration) => Promise<number | null>
}

/** Of a table that a change writes again. 500,000 narrow rows with one index took 0.9 s. */
const MAX_REWRITTEN_ROWS = 500_000
const MAX_REWRITTEN_BYTES = 64 * 2 ** 20
const LIMIT = `at most ${MAX_REWRITTEN_ROWS} rows and ${MAX_REWRITTEN_BYTES / 2 ** 20} MiB of values`

const namesIn = (sql: string) => new Set(tokenTexts(sql).flatMap((token) => foldName(nameIn(token) ?? '')))

const list = (names: readonly string[]) => [...new Set(names)].map((name) => `'${name}'`).join(', ')

/** Changes of stored tables that SQLite's ALTER TABLE makes, or its procedure for all others. For administrators. */
export const createRestructuring = (options: RestructuringOptions) => {
  const { db, registry, clock, writes, searchIndexes, countStored } = options
  const { read: readStored } = createStoredTables(db)

  /** @throws TABLE_TOO_LARGE */
  const checkSize = async (caller: Caller, { name, structure }: RegisteredTable, columns: readonly string[]) => {
    const [row] = await db.scan(weighTable(name, columns, structure.rowid, db.dialect), caller)
    const { rows, bytes } = row as Row
    if (Number(rows) <= MAX_REWRITTEN_ROWS && Number(bytes) <= MAX_REWRITTEN_BYTES) return
    throw tableTooLarge(name, Number(rows), LIMIT)
  }

  /** @throws VALUES_DO_NOT_FIT with an example */
  const checkValues = async (caller: Caller, { name, structure }: RegisteredTable, change: FieldChange) => {
    const { column, jsonType, isNotNull } = change
    const table = { name, key: structure.key, rowid: structure.rowid }
    const find = async (statement: ReturnType<typeof findNull>, path: string, problem: string) => {
      const [row] = await db.scan(statement, caller)
      if (!row) return
      const key = structure.key.map((field, index) => `${field} = ${row[`k${index}`]}`).join(', ')
      throw valuesDoNotFit(
        column.name,
        path,
        `The record with ${key} has ${row.value} in '${column.name}', ${problem}.`
      )
    }
    if (jsonType) {
      const problem = `which does not fit the type ${jsonType}`
      await find(findUnfitting(table, column.name, jsonType, db.dialect), '/jsonType', problem)
    }
    if (isNotNull) await find(findNull(table, column.name, db.dialect), '/nullable', 'so it cannot be required')
  }

  /** The fields of other tables, and of the table itself, that refer to the column. */
  const referringTo = async (table: string, column: Column) =>
    (await db.read(selectReferring(table)))
      .filter(({ target }) => (target === null ? column.isPrimary : foldName(String(target)) === foldName(column.name)))
      .map(({ name, field }) => `${name}.${field}`)

  /** @throws STRUCTURE_IN_USE if the conversion of a column would change the meaning of another declaration */
  const checkConversion = async ({ name, structure }: RegisteredTable, column: Column, declaration: string) => {
    const isReferring = structure.foreignKeys.some(({ fields }) => fields.includes(column.name))
    if (isReferring)
      throw structureInUse(`'${column.name}' is part of a foreign key, so its stored type cannot change.`)
    const referring = await referringTo(name, column)
    if (referring.length > 0) {
      throw structureInUse(`${list(referring)} refers to '${column.name}', so its stored type cannot change.`)
    }
    const check = checksIn(declaration).find(({ names }) => names.has(foldName(column.name)))
    if (check) throw structureInUse(`The CHECK '${check.label}' names '${column.name}', so its type cannot change.`)
  }

  /**
   * Returns the unit that creates the table again with another type or default of a column.
   * @throws STRUCTURE_CHANGED, STRUCTURE_IN_USE, TABLE_TOO_LARGE
   */
  const rebuild = async (caller: Caller, table: RegisteredTable, change: FieldChange): Promise<Unit> => {
    const { name } = table
    const { column, storedType: type, defaultValue } = change
    const [version] = await db.read(selectSchemaVersion)
    const stored = await readStored(caller, name)
    const declarations = await db.read(selectDeclarations(name))
    const declaration = String(declarations.find((row) => row.type === 'table')?.sql)
    const definition = redefined(declaration, column.name, { type, defaultValue })
    if (!stored || definition === null) throw storedFieldGone(name, column.name)
    if (type) await checkConversion(table, column, declaration)
    const { columns, rowid } = stored.structure
    const copied = columns.filter(({ isGenerated }) => !isGenerated).map((other) => other.name)
    await checkSize(caller, table, copied)
    const [checked] = await db.scan(countViolations([name]), caller)
    const unit = rebuildTable(
      {
        name,
        declaration: definition,
        columns: rowid === null || copied.includes(rowid) ? copied : [rowid, ...copied],
        conversion: type ? { column: column.name, type } : undefined,
        isAutoIncrement: declaresAutoIncrement(declaration),
        dependents: declarations.filter((row) => row.type !== 'table').map(({ sql }) => String(sql))
      },
      [expectSchemaVersion(Number(version?.schema_version))]
    )
    return [...unit, expectViolations([name], Number(checked?.violations))]
  }

  const changeUnit = async (caller: Caller, table: RegisteredTable, change: FieldChange): Promise<Unit> => {
    const { name: tableName, structure, choices } = table
    const { column, name, jsonType, isNotNull } = change
    const isRebuilt = change.storedType !== undefined || change.defaultValue !== undefined
    await checkValues(caller, table, change)
    const after = structureAfter(structure, change)
    return [
      ...(isRebuilt ? await rebuild(caller, table, change) : []),
      ...(jsonType ? await searchIndexes.follow(caller, table, after) : []),
      ...(isNotNull === undefined ? [] : [setNotNull(tableName, column.name, isNotNull)]),
      ...(name === undefined ? [] : [renameColumn(tableName, column.name, name)]),
      updateChoices(table, choicesAfter(choices, change), clock())
    ]
  }

  /**
   * Changes a field. The rows stay as they are, except that a new stored type converts the values.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, FIELD_NOT_FOUND, FIELD_EXISTS,
   * VALIDATION_FAILED, STRUCTURE_IN_USE, VALUES_DO_NOT_FIT, TABLE_TOO_LARGE
   */
  const changeField = async (caller: Caller, id: number, field: string, sent: FieldRedefinition) => {
    try {
      return await writes.restructure(caller, id, async (table) => {
        const change = readFieldChange(table, field, sent)
        const unit = await changeUnit(caller, table, change)
        await caller.confirm()
        return unit
      })
    } catch (error) {
      // A value was written after the check, or two values are the same after the conversion.
      const isUnfit = hasCode(error, 'CONSTRAINT_VIOLATION') || hasCode(error, 'UNIQUE_VIOLATION')
      throw isUnfit ? valuesDoNotFit(field, '') : error
    }
  }

  /** Returns the indexes of the API that have only this field. Others refuse the drop: SQLite names them. */
  const indexesOf = async (table: string, { name }: Column) =>
    toIndexes((await db.read(selectIndexes(table)))[0]).filter(
      (index) =>
        isOwn(index.name) && index.columns.every((column) => column !== null && foldName(column) === foldName(name))
    )

  const dropFieldUnit = async (caller: Caller, table: RegisteredTable, column: Column): Promise<Unit> => {
    const { id, name, structure, choices } = table
    assertTable(table)
    if (table.isOutdated) throw tableOutdated(name)
    if (column.isPrimary) throw structureInUse(`'${column.name}' is the key, or a part of it.`)
    const referring = await referringTo(name, column)
    if (referring.length > 0) throw structureInUse(`${list(referring)} refers to '${column.name}'.`)
    await checkSize(caller, table, [column.name])
    const after = { ...structure, columns: structure.columns.filter((other) => other !== column) }
    const renewed = await searchIndexes.follow(caller, table, after)
    const indexes = await indexesOf(name, column)
    await caller.confirm()
    return [
      expectUnreferredColumn(name, column.name),
      ...(renewed.length > 0 ? dropSearchIndex(id) : []),
      ...indexes.map((index) => dropIndex(index.name)),
      dropColumn(name, column.name),
      ...renewed,
      updateChoices(table, choicesWithout(choices, column.name), clock())
    ]
  }

  /**
   * Deletes a field with its values.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, FIELD_NOT_FOUND, STRUCTURE_IN_USE,
   * TABLE_TOO_LARGE, CONFIRMATION_REQUIRED
   */
  const dropField = async (caller: Caller, id: number, field: string, isConfirmed: boolean) => {
    const known = registry.get(id)
    fieldOf(known, field)
    if (!isConfirmed) {
      const rows = await countStored(caller, known)
      throw lossNotConfirmed(known.name, rows, `Dropping '${field}' deletes its values.`)
    }
    return writes.restructure(caller, id, (table) => dropFieldUnit(caller, table, fieldOf(table, field)))
  }

  /** Returns the views that name the table and can be compiled. @throws STRUCTURE_IN_USE for a trigger of another table */
  const viewsOf = async (caller: Caller, name: string) => {
    const dependents = await db.read(selectDependents(name))
    const naming = dependents.filter(({ sql }) => namesIn(String(sql)).has(foldName(name)))
    const trigger = naming.find(({ type }) => type === 'trigger')
    if (trigger) throw structureInUse(`The trigger '${trigger.name}' of '${trigger.tbl_name}' names '${name}'.`)
    const views: string[] = []
    for (const view of naming) {
      if (typeof (await readView(db, caller, String(view.name))) !== 'string') views.push(String(view.name))
    }
    return views
  }

  const checkUnreferred = async (name: string) => {
    const referring = (await db.read(selectReferring(name))).filter(
      (row) => foldName(String(row.name)) !== foldName(name)
    )
    if (referring.length === 0) return
    const fields = referring.map((row) => `${row.name}.${row.field}`)
    throw structureInUse(`${list(fields)} refers to '${name}'.`, 'Drop these fields or their tables first.')
  }

  /**
   * Deletes the stored table with its rows, and its registration.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, STRUCTURE_IN_USE, CONFIRMATION_REQUIRED
   */
  const drop = async (caller: Caller, id: number, isConfirmed: boolean): Promise<void> => {
    const table = registry.get(id)
    const { name } = table
    assertTable(table)
    if (table.isOutdated) throw tableOutdated(name)
    if (!isConfirmed) {
      throw lossNotConfirmed(name, await countStored(caller, table), 'Dropping it deletes all of them.')
    }
    await checkUnreferred(name)
    const views = await viewsOf(caller, name)
    await caller.confirm()
    const before: Unit = [
      FOREIGN_KEYS_OFF,
      expectUnreferred(name),
      ...dropSearchIndex(id),
      deleteTable(id),
      dropTable(name)
    ]
    try {
      await db.write([...before, ...views.map(compileView)])
    } catch (error) {
      if (error instanceof UnexpectedChanges) throw tableChanged()
      const { statement } = error as Partial<DomainError>
      const view = views[Number(statement) - before.length]
      throw view === undefined ? error : structureInUse(`The view '${view}' reads '${name}'.`)
    }
    registry.remove(table)
    // The table may have had triggers and foreign keys with effects on others.
    await registry.reload()
  }

  return { changeField, dropField, drop }
}

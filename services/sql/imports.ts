import type { ForeignKey } from '../../schemas/table.ts'
import type { Row, SqlValue } from '../model/sql-value.ts'
import { type Structure, UPDATED_AT } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import type { Condition } from './conditions.ts'
import { insertClauses, mustNotAbort, orAbort } from './conflicts.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { Statement, Unit } from './statement.ts'
import { joinTerms } from './terms.ts'
import { type ComputedUniqueIndex, uniqueIndexOf } from './unique-indexes.ts'
import { hasKey, isUniqueKey, namesOfKey, parseUniqueIndexes, rowidKeys, UNIQUE_INDEXES } from './unique-keys.ts'

/** The table of a staging file that has the records of an import. */
export const STAGED_TABLE = '_rowhouse_staged'
/** The column with the line where the record begins. */
export const LINE_COLUMN = '_rowhouse_line'

const LINE = columnRef(STAGED_TABLE, LINE_COLUMN)

/** What an import needs of the declarations of a table. */
export interface ImportTarget {
  /** The declaration of the table, then those of its unique indexes. */
  readonly declarations: readonly string[]
  /** The unique indexes of all records on columns alone. */
  readonly uniqueKeys: readonly UniqueKey[]
  /** The other unique indexes. */
  readonly uniqueIndexes: readonly ComputedUniqueIndex[]
}

export const selectImportTarget = (table: string): Statement => ({
  sql: `SELECT
    (SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE) AS declaration,
    ${UNIQUE_INDEXES} AS unique_indexes`,
  params: [table, table]
})

/** Returns null if the table does not exist. */
export const toImportTarget = (row: Row | undefined, structure: Structure): ImportTarget | null => {
  if (!row || row.declaration === null) return null
  const indexes = parseUniqueIndexes(row.unique_indexes)
  const others = indexes.filter((index) => !isUniqueKey(index))
  return {
    declarations: [String(row.declaration), ...indexes.flatMap(({ sql }) => sql ?? [])],
    uniqueKeys: [...rowidKeys(structure), ...indexes.filter(isUniqueKey)],
    uniqueIndexes: others.map(({ name, sql }) => uniqueIndexOf(name, String(sql)))
  }
}

/** Expects that the registered table still has this name and this declaration. */
export const expectTable = (id: number, name: string, declaration: string): Statement => ({
  sql: `SELECT 1 FROM _rowhouse_tables AS registered
    JOIN main.sqlite_schema AS stored ON stored.type = 'table' AND stored.name = registered.name COLLATE NOCASE
    WHERE registered.id = ? AND registered.name = ? AND stored.sql = ?`,
  params: [BigInt(id), name, declaration],
  expect: 1
})

const staged = (name: string) => columnRef(STAGED_TABLE, name)

/** Whether a stored and a staged record have the same values in the key. NULL equals nothing. */
const sameKey = (table: string, key: UniqueKey) => hasKey(table, key, staged)

const storedWith = (table: string, condition: string) =>
  `EXISTS (SELECT 1 FROM main.${identifier(table)} WHERE ${condition})`

const STAGED_RECORDS = `staged.${identifier(STAGED_TABLE)}`

/** Selects the first staged records that match by `line`, and their `total`. `max`: the number of lines. */
const selectLines = (condition: string, max: number, records = STAGED_RECORDS): Statement => ({
  sql: `SELECT ${LINE} AS line, count(*) OVER () AS total FROM ${records} WHERE ${condition} ORDER BY 1 LIMIT ?`,
  params: [BigInt(max)]
})

/** The column by which staged records are stored. */
const positionOf = ({ rowid }: Structure) => staged(rowid ?? LINE_COLUMN)

const isTaken = (table: string, key: UniqueKey, except: UniqueKey | null) => {
  const other = except ? ` AND (${sameKey(table, except)}) IS NOT TRUE` : ''
  return storedWith(table, sameKey(table, key) + other)
}

/** Selects the staged records that conflict with a stored record. `except`: ignores records with the same values in this key. */
export const selectTaken = (table: string, key: UniqueKey, except: UniqueKey | null, max: number) =>
  selectLines(isTaken(table, key, except), max)

/**
 * Selects the staged records that a stored record conflicts with in a unique index of expressions. They are computed before
 * the comparison, where the names of the index are those of the stored record.
 */
export const selectTakenInIndex = (
  { table, structure }: { readonly table: string; readonly structure: Structure },
  { terms, condition }: ComputedUniqueIndex,
  except: UniqueKey | null,
  max: number
) => {
  const computed = terms.map((_, index) => `_rowhouse_term_${index}`)
  const isInIndex = condition === null ? 'TRUE' : `(${condition})`
  const columns = [
    ...[...structure.columns.map(({ name }) => name), LINE_COLUMN].map(identifier),
    ...terms.map((term, index) => `(${term}) AS ${identifier(computed[index] as string)}`)
  ]
  const records = `(SELECT ${columns.join(', ')} FROM ${STAGED_RECORDS} WHERE ${isInIndex}) AS ${identifier(STAGED_TABLE)}`
  const same = terms.map((term, index) => `(${term}) = ${staged(computed[index] as string)}`)
  const other = except ? [`(${sameKey(table, except)}) IS NOT TRUE`] : []
  return selectLines(storedWith(table, [...same, isInIndex, ...other].join(' AND ')), max, records)
}

/** Selects the staged records that have the key of a stored record. */
export const selectMatching = (table: string, key: UniqueKey, max: number) => selectTaken(table, key, null, max)

/** Selects the staged records that have the key of a stored record which cannot be changed. */
export const selectOutside = (table: string, key: UniqueKey, rows: Condition, max: number): Statement => {
  const { sql, params } = selectLines(storedWith(table, `${sameKey(table, key)} AND (${rows.sql}) IS NOT TRUE`), max)
  return { sql, params: [...rows.params, ...params] }
}

/** Selects the staged records that change a stored record with other values in these fields of its primary key. */
export const selectOtherKey = (table: string, on: UniqueKey, keyFields: readonly string[], max: number) => {
  const differs = keyFields.map((name) => `${columnRef(table, name)} IS NOT ${staged(name)}`).join(' OR ')
  return selectLines(storedWith(table, `${sameKey(table, on)} AND (${differs})`), max)
}

const PARENT = '_rowhouse_parent'

/** `position`: the column by which staged records are stored, if a parent must not come after its child. */
const stagedParent = ({ fields, targetFields }: ForeignKey, position: string | null) => {
  const same = fields.map((field, index) => `${columnRef(PARENT, targetFields[index] as string)} = ${staged(field)}`)
  const order = position === null ? [] : [`${columnRef(PARENT, position)} <= ${staged(position)}`]
  return `EXISTS (SELECT 1 FROM staged.${identifier(STAGED_TABLE)} AS ${identifier(PARENT)} WHERE ${[...same, ...order].join(' AND ')})`
}

/** Selects the staged records whose reference is to no stored record, and to no staged one of the same table. */
export const selectOrphans = (
  key: ForeignKey,
  { isToItself, position }: { readonly isToItself: boolean; readonly position: string | null },
  max: number
) => {
  const { fields, table, targetFields } = key
  const isSet = fields.map((field) => `${staged(field)} IS NOT NULL`)
  const same = fields.map((field, index) => `${columnRef(table, targetFields[index] as string)} = ${staged(field)}`)
  const parents = [storedWith(table, same.join(' AND ')), ...(isToItself ? [stagedParent(key, position)] : [])]
  return selectLines([...isSet, ...parents.map((exists) => `NOT ${exists}`)].join(' AND '), max)
}

/** Returns the bytes of the texts in these fields of a staged record. */
const textBytes = (fields: readonly string[]) =>
  joinTerms(
    ['0', ...fields.map((name) => `iif(typeof(${staged(name)}) = 'text', octet_length(${staged(name)}), 0)`)],
    '+'
  )

/** Selects the bytes of the texts in these fields of all staged records, as the `total`. */
export const selectTextBytes = (fields: readonly string[]): Statement => ({
  sql: `SELECT 0 AS line, total(${textBytes(fields)}) AS total FROM staged.${identifier(STAGED_TABLE)}`,
  params: []
})

/** Selects the staged records that have more bytes of text in these fields. `max`: the number of lines. */
export const selectLongTexts = (fields: readonly string[], maxBytes: number, max: number): Statement =>
  selectLines(`${textBytes(fields)} > ${maxBytes}`, max)

/** How the staged records of a file are stored. */
export interface StorePlan {
  readonly table: string
  readonly structure: Structure
  /** The fields to store in new records. */
  readonly inserted: readonly string[]
  /** With `on`: the fields to change in stored records, with the values of the file. */
  readonly updated: readonly string[]
  /** Stored records with the same key are changed. */
  readonly on: UniqueKey | null
  /** The stored records that can be changed. null: all of them. */
  readonly rows: Condition | null
  /** Whether triggers have conflict clauses, which OR ABORT would override. */
  readonly hasConflictTriggers: boolean
  /** The unique keys but `on` that the records may violate. */
  readonly otherKeys: readonly UniqueKey[]
  /** Whether a change sets `updated_at`. */
  readonly setsUpdatedAt: boolean
}

/** A plan, with the table of the staged records. */
interface SourcedPlan extends StorePlan {
  readonly source: string
}

export interface StoredRange {
  /** null: from the first record. */
  readonly after: SqlValue
  readonly last: SqlValue
  readonly rows: number
  /** Epoch milliseconds. */
  readonly now: number
}

/** Stores staged records in units, each with a range of them. */
export interface StagedUnits {
  /** Returns the unit that stores a range of records. `progress`: a statement that it runs after them, before its last check. */
  unitOf(range: StoredRange, progress: Statement): Unit
  /** An expression for the number of staged records that have the key of a stored one. */
  readonly storedKeys: string
}

/** The conflict clause of an UPDATE, and the condition of its staged records. */
interface ChangedRange {
  readonly range: string
  readonly clause: string
}

/** Returns the conflict clauses of the statements, and the unique keys that an upsert checks before them. */
const conflictsOf = (storePlan: StorePlan) => {
  const { structure, inserted, updated, on, otherKeys } = storePlan
  if (!on || !mustNotAbort(storePlan))
    return { checked: [], update: orAbort(structure), insert: insertClauses(storePlan) }
  const isInFile = (key: UniqueKey) => namesOfKey(key).every((name) => inserted.includes(name))
  const isUpdated = (name: string) => updated.includes(name)
  const unknown = otherKeys.filter((key) => !isInFile(key))
  const clause = (mayConflict: boolean) => (mayConflict ? orAbort(structure) : '')
  return {
    checked: otherKeys.filter(isInFile),
    // Without `keys`, a field of the constraint is generated: it changes with any other one.
    update: clause(structure.conflicts?.keys === null || unknown.some((key) => namesOfKey(key).some(isUpdated))),
    insert: { before: clause(unknown.length > 0), after: '' }
  }
}

/** Selects a row if a record of an upsert has the unique values of another stored record. */
const checkStep = ({ table, source, on }: SourcedPlan, keys: readonly UniqueKey[], range: string) => {
  if (keys.length === 0) return null
  const taken = keys.map((key) => isTaken(table, key, on)).join(' OR ')
  return `SELECT 1 FROM ${source} WHERE ${range} AND (${taken}) LIMIT 1`
}

/** Whether a stored record has the key of a staged one, and can be changed. */
const storedRecord = ({ table, rows }: StorePlan, on: UniqueKey) =>
  rows ? `${sameKey(table, on)} AND ${rows.sql}` : sameKey(table, on)

const updateStep = (storePlan: SourcedPlan, on: UniqueKey, { range, clause }: ChangedRange) => {
  const { table, source, updated, setsUpdatedAt } = storePlan
  const stamp = columnRef(table, UPDATED_AT)
  const sets = [
    ...updated.map((name) => `${identifier(name)} = ${staged(name)}`),
    ...(setsUpdatedAt ? [`${identifier(UPDATED_AT)} = max(?, coalesce(${stamp}, 0) + 1)`] : [])
  ]
  return `UPDATE${clause} main.${identifier(table)} SET ${sets.join(', ')}
    FROM ${source} WHERE ${range} AND ${storedRecord(storePlan, on)}`
}

type InsertClauses = ReturnType<typeof insertClauses>

const insertStep = (
  { table, source, structure, inserted, on }: SourcedPlan,
  { before, after }: InsertClauses,
  range: string
) => {
  const isNew = on ? ` AND NOT ${storedWith(table, sameKey(table, on))}` : ''
  return `INSERT${before} INTO main.${identifier(table)} (${inserted.map(identifier).join(', ')})
    SELECT ${inserted.map(staged).join(', ')} FROM ${source}
    WHERE ${range}${isNew} ORDER BY ${positionOf(structure)}${after}`
}

/** Selects a row if a record of an upsert is not stored, because a trigger has skipped it, or cannot be changed. */
const checkStored = (storePlan: SourcedPlan, on: UniqueKey, range: string) =>
  `SELECT 1 FROM ${storePlan.source}
    WHERE ${range} AND NOT ${storedWith(storePlan.table, storedRecord(storePlan, on))} LIMIT 1`

/**
 * Returns the units that store staged records. `schema`: of the staging file. A unit has, in an upsert, a check of the unique
 * keys that OR ABORT does not protect and an UPDATE of the stored records with the same key; then an INSERT of the others,
 * and `progress`. Not one INSERT with ON CONFLICT, which would not report how many records were created. The unit fails if it
 * changes and inserts fewer records than the range has, because a trigger skips one.
 */
export const storeStaged = (plan: StorePlan, schema: string): StagedUnits => {
  const storePlan = { ...plan, source: `${identifier(schema)}.${identifier(STAGED_TABLE)}` }
  const { table, source, structure, updated, on, setsUpdatedAt } = storePlan
  const position = positionOf(structure)
  const { checked, ...clauses } = conflictsOf(storePlan)
  const changes = on !== null && updated.length > 0
  const compose = (range: string) => ({
    check: checkStep(storePlan, checked, range),
    update: changes ? updateStep(storePlan, on, { range, clause: clauses.update }) : null,
    insert: insertStep(storePlan, clauses.insert, range),
    // Without an UPDATE, the number of stored records with the same key is not known.
    checkAfter: on && !changes ? checkStored(storePlan, on, range) : null
  })
  const first = compose(`${position} <= ?`)
  const next = compose(`${position} > ? AND ${position} <= ?`)

  const unitOf: StagedUnits['unitOf'] = ({ after, last, rows, now }, progress) => {
    const { check, update, insert, checkAfter } = after === null ? first : next
    const params = after === null ? [last] : [after, last]
    const stamp = setsUpdatedAt ? [BigInt(now)] : []
    const changed = storePlan.rows ? [...params, ...storePlan.rows.params] : params
    const expected = { expect: changes ? { both: rows } : rows }
    return [
      ...(check === null ? [] : [{ sql: check, params, expect: 0 }]),
      ...(update === null ? [] : [{ sql: update, params: [...stamp, ...changed] }]),
      { sql: insert, params, ...(checkAfter === null && expected) },
      progress,
      ...(checkAfter === null ? [] : [{ sql: checkAfter, params: changed, expect: 0 }])
    ]
  }
  const count = on && `(SELECT count(*) FROM ${source} WHERE ${storedWith(table, sameKey(table, on))})`
  return { unitOf, storedKeys: count ?? '0' }
}

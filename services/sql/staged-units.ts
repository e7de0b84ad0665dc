import type { SqlValue } from '../model/sql-value.ts'
import { type Structure, UPDATED_AT } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import type { Condition } from './conditions.ts'
import { insertClauses, mustNotAbort, orAbort } from './conflicts.ts'
import { columnRef, identifier } from './identifiers.ts'
import {
  isTaken,
  POSITION_COLUMN,
  positionName,
  STAGED_TABLE,
  type StagedColumn,
  sameKey,
  selectStaged,
  staged,
  stagedColumn,
  storedWith
} from './staged.ts'
import { type Param, type RowSource, type Statement, type Unit, UnitValue } from './statement.ts'
import { namesOfKey } from './unique-keys.ts'
import { storeValue } from './unit-values.ts'

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
  /** The end of the statements that store records: see `changeGuard`. */
  readonly guard: string
}

/** A plan, with the staged records of a range in FROM. */
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

/** Returns the staged records of a range, with these columns. */
export type ReadRange = (
  columns: readonly StagedColumn[],
  range: Pick<StoredRange, 'after' | 'last'>
) => RowSource | Promise<RowSource>

/** A unit that stores a range of staged records. */
export interface StagedUnit {
  readonly unit: Unit<Param>
  /** An expression for the number of its records that have the key of a stored one. */
  readonly storedKeys: Pick<Statement, 'sql' | 'params'>
}

/** Stores staged records in units, each with a range of them. */
export interface StagedUnits {
  /** Returns the unit that stores a range of records. `progress`: a statement that it runs after them, before its last checks. */
  unitOf(range: StoredRange, progress: Statement): Promise<StagedUnit>
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
const checkStep = ({ table, source, on }: SourcedPlan, keys: readonly UniqueKey[]) =>
  `SELECT 1 FROM ${source} WHERE ${keys.map((key) => isTaken(table, key, on)).join(' OR ')} LIMIT 1`

const updateStep = (storePlan: SourcedPlan, on: UniqueKey, clause: string) => {
  const { table, source, updated, setsUpdatedAt, rows, guard } = storePlan
  const isVisible = rows ? ` AND ${rows.sql}` : ''
  const stamp = columnRef(table, UPDATED_AT)
  const sets = [
    ...updated.map((name) => `${identifier(name)} = ${staged(name)}`),
    ...(setsUpdatedAt ? [`${identifier(UPDATED_AT)} = max(?, coalesce(${stamp}, 0) + 1)`] : [])
  ]
  return `UPDATE${clause} main.${identifier(table)} SET ${sets.join(', ')}
    FROM ${source} WHERE ${sameKey(table, on)}${isVisible}${guard}`
}

type InsertClauses = ReturnType<typeof insertClauses>

/** `condition`: no record is inserted if it is false. */
const insertStep = (
  { table, source, inserted, on, guard }: SourcedPlan,
  { before, after }: InsertClauses,
  condition: string
) => {
  const isNew = on ? `NOT ${storedWith(table, sameKey(table, on))}` : 'TRUE'
  return `INSERT${before} INTO main.${identifier(table)} (${inserted.map(identifier).join(', ')})
    SELECT ${inserted.map(staged).join(', ')} FROM ${source}
    WHERE ${isNew} AND ${condition} ORDER BY ${staged(POSITION_COLUMN)}${after}${guard}`
}

/** Selects a row if a staged record has no stored one that matches. */
const selectMissing = ({ table, source }: SourcedPlan, matching: string) =>
  `SELECT 1 FROM ${source} WHERE NOT ${storedWith(table, matching)} LIMIT 1`

/** Selects a row if a staged record has the key of a stored one that cannot be changed. */
const selectOutside = ({ table, source }: SourcedPlan, on: UniqueKey, rows: Condition) =>
  `SELECT 1 FROM ${source} WHERE ${storedWith(table, `${sameKey(table, on)} AND (${rows.sql}) IS NOT TRUE`)} LIMIT 1`

/** No rowid is lower. */
const MIN_ROWID = '-9223372036854775808'

interface RowChecks {
  readonly before: Unit<Param>
  readonly after: Unit<Param>
}

const NO_CHECKS: RowChecks = { before: [], after: [] }

/** Checks new records whose rowids SQLite generates: each of them is above the highest one before. */
const checkGenerated = (
  table: string,
  rowid: string,
  { rows, count }: { rows: Condition; count: number }
): RowChecks => {
  const name = `main.${identifier(table)}`
  const ref = columnRef(table, rowid)
  const highest = new UnitValue()
  const added = `FROM ${name} WHERE ${ref} > ?`
  const sql = `SELECT 1 WHERE (SELECT count(*) ${added}) < ? OR EXISTS (SELECT 1 ${added} AND (${rows.sql}) IS NOT TRUE)`
  return {
    before: [storeValue(highest, `coalesce((SELECT max(${ref}) FROM ${name}), ${MIN_ROWID})`)],
    after: [{ sql, params: [highest, BigInt(count), highest, ...rows.params], expect: 0, isRowCheck: true }]
  }
}

/** Returns the key by which the stored records of a file are found. null: SQLite generates their rowids. */
const storedKeyOf = ({ on, structure, otherKeys }: StorePlan): UniqueKey | null => {
  if (on) return on
  if (structure.rowid !== null && !structure.isRowidKey) return null
  const isPrimary = (key: UniqueKey) => namesOfKey(key).join('\0') === structure.key.join('\0')
  return otherKeys.find(isPrimary) ?? null
}

/** Returns the statements that check, after the records of a range are stored, that each is one of `rows`. */
const rowChecksOf = (
  sourced: SourcedPlan,
  { params, count }: { readonly params: readonly SqlValue[]; readonly count: number }
): RowChecks => {
  const { table, rows, structure } = sourced
  if (!rows) return NO_CHECKS
  const key = storedKeyOf(sourced)
  if (!key) return checkGenerated(table, structure.rowid as string, { rows, count })
  const sql = selectMissing(sourced, `${sameKey(table, key)} AND ${rows.sql}`)
  return { before: [], after: [{ sql, params: [...params, ...rows.params], expect: 0, isRowCheck: true }] }
}

/** A condition of the INSERT, with the statements that run before the UPDATE. */
interface InsertCondition {
  readonly before: Unit<Param>
  readonly sql: string
  readonly params: readonly Param[]
}

const NO_CONDITION: InsertCondition = { before: [], sql: 'TRUE', params: [] }

/**
 * Returns the condition that as many staged keys are stored after the UPDATE as before. If a trigger has moved a record to another
 * key, the INSERT would create the old key again. `sql`: an expression for this number.
 */
const keepsKeys = ({ sql, params }: StagedUnit['storedKeys']): InsertCondition => {
  const count = new UnitValue()
  return { before: [storeValue(count, sql, params)], sql: `${sql} = ?`, params: [...params, count] }
}

/** Returns the columns that a unit reads of each staged record. */
const columnsOf = ({ structure, inserted, on, rows }: StorePlan): readonly StagedColumn[] => [
  ...[...new Set([...inserted, ...(on ? namesOfKey(on) : []), ...(rows ? structure.key : [])])].map(stagedColumn),
  { name: POSITION_COLUMN, value: staged(positionName(structure)) }
]

/**
 * Returns the units that store staged records. A unit has, in an upsert, a check of the unique keys that OR ABORT does not
 * protect and an UPDATE of the stored records with the same key; then an INSERT of the others, and `progress`. Not one INSERT
 * with ON CONFLICT, which would not report how many records were created. The unit fails if it changes and inserts fewer
 * records than the range has, because a trigger skips one. A rule of the caller adds checks. First: no key is that of a
 * record outside. Before the INSERT: the UPDATE has moved no key. Last: each stored record is one that the caller can read and
 * change.
 */
export const storeStaged = (plan: StorePlan, readRange: ReadRange): StagedUnits => {
  const { table, updated, on, setsUpdatedAt } = plan
  const { checked, update, insert } = conflictsOf(plan)
  const changes = on !== null && updated.length > 0
  const columns = columnsOf(plan)

  const unitOf: StagedUnits['unitOf'] = async ({ after, last, rows, now }, progress) => {
    const { from, params } = await readRange(columns, { after, last })
    const sourced = { ...plan, source: `${from} AS ${identifier(STAGED_TABLE)}` }
    const stamp = setsUpdatedAt ? [BigInt(now)] : []
    const changed = [...params, ...(plan.rows?.params ?? [])]
    // Without an UPDATE, the number of stored records with the same key is not known.
    const checksAfter = on !== null && !changes
    const expected = { expect: changes ? { both: rows } : rows }
    const rowChecks = rowChecksOf(sourced, { params, count: rows })
    const count = on && `(SELECT count(*) FROM ${sourced.source} WHERE ${storedWith(table, sameKey(table, on))})`
    const storedKeys = count === null ? { sql: '0', params: [] } : { sql: count, params }
    const condition = changes && plan.rows ? keepsKeys(storedKeys) : NO_CONDITION
    const unit: Unit<Param> = [
      ...(checked.length > 0 ? [{ sql: checkStep(sourced, checked), params, expect: 0 }] : []),
      ...(checksAfter && plan.rows ? [{ sql: selectOutside(sourced, on, plan.rows), params: changed, expect: 0 }] : []),
      ...rowChecks.before,
      ...condition.before,
      ...(changes ? [{ sql: updateStep(sourced, on, update), params: [...stamp, ...changed] }] : []),
      {
        sql: insertStep(sourced, insert, condition.sql),
        params: [...params, ...condition.params],
        ...(!checksAfter && expected)
      },
      progress,
      ...(checksAfter ? [{ sql: selectMissing(sourced, sameKey(table, on)), params, expect: 0 }] : []),
      ...rowChecks.after
    ]
    return { unit, storedKeys }
  }
  return { unitOf }
}

/** Returns the function that reads ranges of a staging file whose schema is attached. SQLite reads only the range. */
export const readAttached = (schema: string, structure: Structure): ReadRange => {
  const table = `${identifier(schema)}.${identifier(STAGED_TABLE)}`
  const position = staged(positionName(structure))
  return (columns, { after, last }) =>
    after === null
      ? { from: selectStaged(columns, table, `${position} <= ?`), params: [last] }
      : { from: selectStaged(columns, table, `${position} > ? AND ${position} <= ?`), params: [after, last] }
}

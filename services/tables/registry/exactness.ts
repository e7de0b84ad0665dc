import type { Database, ScanCaller } from '../../engine/database.ts'
import { hasCode } from '../../model/errors.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import { foldName } from '../../model/names.ts'
import type { Choices, Column, FieldChoices, Structure } from '../../model/table.ts'
import { checkValue } from '../../model/values.ts'
import { findMisfitColumns } from '../../sql/misfits.ts'
import type { StoredTable } from './stored-tables.ts'

/** Kinds whose values STRICT enforces. It has no booleans and no JSON, and ANY accepts every type. */
const STRICT_KINDS = ['integer', 'real', 'text', 'blob']

/** Kinds that accept texts and numbers. */
const MIXED_KINDS = ['loose', 'untyped']

type Facts = Pick<Structure, 'isStrict' | 'isRowidKey'>

/** Whether SQLite enforces the type of the column. */
const isEnforced = ({ isStrict, isRowidKey }: Facts, column: Column) =>
  (isRowidKey && column.isPrimary) || (isStrict && STRICT_KINDS.includes(kindOf(column).name))

/** Whether the default is a value of the column's kind. Of expressions, only the current time is known: it is a text. */
const fitsDefault = (column: Column) => {
  const { defaultLiteral, defaultValue } = column
  const { name } = kindOf(column)
  if (defaultLiteral === 'none') return true
  if (defaultLiteral === 'time') return name === 'text'
  if (defaultLiteral === 'expression' || (defaultLiteral === 'blob') !== (name === 'blob')) return false
  return !('violation' in checkValue(column, defaultValue))
}

/** Whether a new record, or an update through the API, can only store values of the column's kind. */
const keepsType = (column: Column) =>
  !column.isGenerated && !MIXED_KINDS.includes(kindOf(column).name) && fitsDefault(column)

/** Effects of writes to other tables on a table. */
export interface WriteEffects {
  /** Whether a trigger of any table writes to this one. */
  isTriggerTarget(table: string): boolean
  /** Whether a foreign key copies a value into the column that the API can change elsewhere. */
  isCascadeTarget(table: string, column: string): boolean
}

/** Returns the names of the fields whose values all have the type of the field, and keep it. */
export const exactFieldsOf = (
  table: string,
  structure: Structure,
  choices: Choices,
  { isTriggerTarget, isCascadeTarget }: WriteEffects
): ReadonlySet<string> => {
  const measured = new Map(choices.fields.map(({ name, exactType }) => [name, exactType]))
  const isWrittenByTrigger = isTriggerTarget(table)
  const isKept = (column: Column) =>
    measured.get(column.name) === column.declaredType &&
    keepsType(column) &&
    !isWrittenByTrigger &&
    !isCascadeTarget(table, column.name)
  const exact = structure.columns.filter((column) => isEnforced(structure, column) || isKept(column))
  return new Set(exact.map(({ name }) => name))
}

/** The declared types of the columns whose values all fit, by folded name. */
export type ExactTypes = ReadonlyMap<string, string>

/** Returns the fields with the measured types. Without one, a field loses the result of an earlier measurement. */
export const withExactTypes = (fields: readonly FieldChoices[], exactTypes: ExactTypes): FieldChoices[] =>
  fields.map(({ exactType: _, ...field }) => {
    const exactType = exactTypes.get(foldName(field.name))
    return exactType === undefined ? field : { ...field, exactType }
  })

const NOTHING_MEASURED: ExactTypes = new Map()

/** Whether the fields stay inexact: the scan takes too long, or SQLite cannot read the table. */
const isUnmeasurable = (error: unknown) => hasCode(error, 'SCAN_TIMEOUT') || hasCode(error, 'STRUCTURE_CHANGED')

/** Milliseconds for all tables of one request. A scan in progress may exceed it, up to the time limit of scans. */
const MAX_DURATION = 30_000

/**
 * Returns the function that finds the columns whose values all fit, with one scan of each table in a reader thread. It
 * does not read columns whose type SQLite enforces, or whose type a write can change. If a scan fails, or `maxDuration`
 * has passed, nothing is measured for the table.
 */
export const createMeasurement = (db: Database) => {
  const measure = async (caller: ScanCaller, { name, structure }: StoredTable): Promise<ExactTypes> => {
    const columns = structure.columns.filter((column) => !isEnforced(structure, column) && keepsType(column))
    if (columns.length === 0) return NOTHING_MEASURED
    try {
      const [row] = await db.scan(findMisfitColumns(name, columns, structure.rowid, db.dialect), caller)
      const fitting = columns.filter((_, index) => Number(row?.[`c${index}`]) === 0)
      return new Map(fitting.map((column) => [foldName(column.name), column.declaredType]))
    } catch (error) {
      if (isUnmeasurable(error)) return NOTHING_MEASURED
      throw error
    }
  }

  return async (caller: ScanCaller, tables: readonly StoredTable[], maxDuration = MAX_DURATION) => {
    const end = performance.now() + maxDuration
    const measured: ExactTypes[] = []
    for (const table of tables) measured.push(performance.now() < end ? await measure(caller, table) : NOTHING_MEASURED)
    return measured
  }
}

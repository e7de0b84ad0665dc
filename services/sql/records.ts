import { LRUCache } from 'lru-cache'
import { parseInteger } from '../model/literals.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { type Column, type RegisteredTable, UPDATED_AT } from '../model/table.ts'
import { MAX_BYTES_ON_LOOP } from './bounded-text.ts'
import { identifier } from './identifiers.ts'
import { forEachCollation, isExactly, isUntyped, keyMatch, textOrBytes } from './keys.ts'
import type { RecordText } from './record-text.ts'
import { scanGuard } from './scan-guard.ts'
import type { Statement, Unit } from './statement.ts'

/** A column and the value that SQLite stores for it. */
export type Assignment = readonly [column: Column, value: SqlValue]

interface RecordUpdate {
  readonly key: readonly SqlValue[]
  readonly assignments: readonly Assignment[]
  /** Read-only fields that were sent along: the record changes only if they are what is stored. */
  readonly unchanged: readonly Assignment[]
  /** Epoch milliseconds. */
  readonly now: number
}

interface RecordIncrement {
  readonly key: readonly SqlValue[]
  readonly column: Column
  readonly count: SqlValue
  /** Epoch milliseconds. */
  readonly now: number
}

/** Callers choose which fields they send, and in which order: each choice is another text. */
const REMEMBERED_TEXTS = 100

/** The text of a record that is too wide to be made on the event loop. A record's JSON is never empty. */
export const TOO_WIDE = ''

const namesOf = (assignments: readonly Assignment[]) => assignments.map(([{ name }]) => name)
const valuesOf = (assignments: readonly Assignment[]) => assignments.map(([, value]) => value)

const composeInsert = (table: string, names: readonly string[]) => {
  if (names.length === 0) return `INSERT INTO ${table} DEFAULT VALUES`
  return `INSERT INTO ${table} (${names.map(identifier).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
}

/** Leads to the row that was just inserted. Gives no parameters where its key is a default, which only SQLite knows. */
const insertedRow = ({ structure: { rowid, key } }: RegisteredTable) => {
  if (rowid !== null) return { where: `${identifier(rowid)} = last_insert_rowid()`, paramsOf: () => [] }
  return {
    where: key.map((name) => isExactly(name, '?')).join(' AND '),
    paramsOf: (assignments: readonly Assignment[]) => {
      const parts = assignments.filter(([{ isPrimary }]) => isPrimary)
      if (parts.length < key.length) return null
      const partOf = (name: string) => parts.find(([column]) => column.name === name)?.[1] as SqlValue
      return key.flatMap((name) => forEachCollation([partOf(name)]))
    }
  }
}

const UPDATED = identifier(UPDATED_AT)

/** JSON shows integers that a number would round as text. */
const textOrWideInteger = (text: string) => {
  const integer = parseInteger(text)
  return integer === undefined || Number.isSafeInteger(Number(integer)) ? text : integer
}

/** The stored values that JSON shows as this one. */
const shownAs = (value: SqlValue) =>
  typeof value === 'string' ? [...textOrBytes(value), textOrWideInteger(value)] : [value, value, value]

const isUnchanged = ([column]: Assignment) => {
  const name = identifier(column.name)
  return isUntyped(column) ? `(${name} IS ? OR ${name} IS ? OR ${name} IS ?)` : `${name} IS ?`
}

const unchangedValues = ([column, value]: Assignment) => (isUntyped(column) ? shownAs(value) : [value])

/** A clock may stand still or go back; `updated_at` always moves. */
const touch = ({ structure }: RegisteredTable) =>
  structure.autoTimestamps
    ? { sql: `, ${UPDATED} = max(?, coalesce(${UPDATED}, 0) + 1)`, params: (now: number) => [BigInt(now)] }
    : { sql: '', params: () => [] }

/** NULL counts as 0. */
const summand = ({ name }: Column) => `coalesce(${identifier(name)}, 0)`

const isNumber = (column: Column) => `typeof(${summand(column)}) IN ('integer', 'real')`

/** Whether the sum stays what it is: an integer that overflows would silently become a REAL. Takes the count thrice. */
const sumFits = (column: Column) => {
  const before = summand(column)
  return `${before} + ? BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    AND (typeof(${before} + ?) = 'integer' OR typeof(${before}) = 'real' OR typeof(?) = 'real')`
}

/**
 * Adds to a number in one statement. The row stays as it is where the field holds no number or the sum would not fit:
 * outside STRICT tables SQLite would add to text, too.
 */
const composeIncrement = (table: string, column: Column, touched: string, match: string) =>
  `UPDATE ${table} SET ${identifier(column.name)} = ${summand(column)} + ?${touched}
    WHERE ${match} AND ${isNumber(column)} AND ${sumFits(column)}`

/**
 * The statements for records of a table. `json`: the expression that shows a record as JSON text.
 * Texts are composed once: besides the work, every cache that they go to recognises the same string faster.
 */
export const recordStatements = (table: RegisteredTable, { text: json, width }: RecordText) => {
  const texts = new LRUCache<string, string>({ max: REMEMBERED_TEXTS })
  const remembered = (kind: string, names: readonly string[], compose: () => string) => {
    const shape = `${kind}\0${names.join('\0')}`
    const known = texts.get(shape)
    if (known !== undefined) return known
    const text = compose()
    texts.set(shape, text)
    return text
  }

  const name = identifier(table.name)
  const match = keyMatch(table.structure)
  const touched = touch(table)
  const inserted = insertedRow(table)
  const readInserted = `SELECT ${json} AS record FROM ${name} WHERE ${inserted.where}`
  const removeSql = `DELETE FROM ${name} WHERE ${match}`

  /** For a walk in a reader thread, where no index leads to the row. */
  const guarded = `${scanGuard(table.structure)} AND ${match}`

  const select = (what: string, whatSought = what) => {
    const sought = `SELECT ${whatSought} FROM ${name} WHERE ${match}`
    const walked = `SELECT ${what} FROM ${name} WHERE ${guarded}`
    return (key: readonly SqlValue[], isWalk = false): Statement => ({ sql: isWalk ? walked : sought, params: key })
  }

  /**
   * A unit that inserts a record and gives it as JSON text. It is read once its triggers have run; RETURNING would show
   * it as it was before them, and take longer. Only a key that is a default of the table, and no rowid, cannot be known
   * beforehand: such a record is returned.
   */
  const insert = (assignments: readonly Assignment[]): Unit => {
    const names = namesOf(assignments)
    const params = valuesOf(assignments)
    const sql = remembered('insert', names, () => composeInsert(name, names))
    const found = inserted.paramsOf(assignments)
    if (!found) return [{ sql: `${sql} RETURNING ${json} AS record`, params, expect: 1 }]
    return [
      { sql, params, expect: 1 },
      { sql: readInserted, params: found, expect: 1 }
    ]
  }

  const update = ({ key, assignments, unchanged, now }: RecordUpdate): Statement => {
    const [set, same] = [namesOf(assignments), namesOf(unchanged)]
    const compose = () => {
      const sets = set.map((column) => `${identifier(column)} = ?`).join(', ')
      const where = [match, ...unchanged.map(isUnchanged)].join(' AND ')
      return `UPDATE ${name} SET ${sets}${touched.sql} WHERE ${where}`
    }
    return {
      sql: remembered(`update ${set.length}`, [...set, ...same], compose),
      params: [...valuesOf(assignments), ...touched.params(now), ...key, ...unchanged.flatMap(unchangedValues)],
      expect: 1
    }
  }

  /** Misses its expectation where the field holds no number or the sum would not fit. */
  const increment = ({ key, column, count, now }: RecordIncrement): Statement => ({
    sql: remembered('increment', [column.name], () => composeIncrement(name, column, touched.sql, match)),
    params: [count, ...touched.params(now), ...key, count, count, count],
    expect: 1
  })

  /** Why an increment missed its expectation: `number` and `fits` are 0 or 1. */
  const judgeIncrement = ({ key, column, count }: Omit<RecordIncrement, 'now'>, isWalk = false): Statement => ({
    sql: `SELECT ${isNumber(column)} AS number, ${sumFits(column)} AS fits FROM ${name} WHERE ${isWalk ? guarded : match}`,
    params: [count, count, count, ...key]
  })

  return {
    /** One that is sought is empty where it is too wide to be made on the event loop. */
    read: select(
      `${json} AS record`,
      `CASE WHEN ${width} <= ${MAX_BYTES_ON_LOOP} THEN ${json} ELSE '${TOO_WIDE}' END AS record`
    ),
    exists: select('1'),
    remove: (key: readonly SqlValue[]): Statement => ({ sql: removeSql, params: key, expect: 1 }),
    insert,
    update,
    increment,
    judgeIncrement
  }
}

export type RecordStatements = ReturnType<typeof recordStatements>

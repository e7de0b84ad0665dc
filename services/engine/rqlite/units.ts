import { LRUCache } from 'lru-cache'
import { isKeyword, tokenTexts } from '../../sql/lexer.ts'
import type { Statement, Unit, UnitOptions } from '../../sql/statement.ts'
import type { WriteResult } from '../database.ts'
import type { PlainError } from '../shared/plain-error.ts'
import { toChangeError } from './errors.ts'
import { recordChange } from './memory-changes.ts'
import { changesMemory, changesStructure, expectChanges, failIf, IS_FAILED_CHECK, withFailure } from './state.ts'
import { type Encoded, encodeStatement, type Result, toRows, withLiterals } from './values.ts'

/** A statement that rqlite runs for a statement of a unit. */
export interface Step {
  readonly statement: Statement
  /** The position of the statement of the unit. */
  readonly position: number
  /** It is not a statement of the unit, so it has no result. */
  readonly isAdded: boolean
}

/** A unit as the statements that rqlite runs. */
export interface Composed {
  readonly steps: readonly Step[]
  /** By how much the unit moves the epoch. */
  readonly moves: number
}

const SELECT = /^\s*(?:SELECT|WITH)\b/i
const RETURNING = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b[\s\S]*\bRETURNING\b/i

/** Whether a statement returns rows. The word may also be a name or a text. */
const returnsRows = (sql: string) =>
  RETURNING.test(sql) && tokenTexts(sql).some((token) => isKeyword(token, 'RETURNING'))

/**
 * Begins a text whose rows are wanted. rqlite returns rows if its parser finds RETURNING in the first statement of a text, and this
 * parser does not know all of SQLite's syntax: without it, the rows would be lost, and the change stored. Of such a text,
 * rqlite runs only the last statement.
 */
const ROWS_WANTED = 'DELETE FROM _rowhouse_services WHERE 0 RETURNING 1; '

const TEXTS = { max: 1000, maxSize: 2 ** 20, sizeCalculation: (text: string, key: string) => text.length + key.length }

/** Creates the function that returns the JSON of a statement of a batch. */
export const createChangeEncoder = () => {
  const texts = new LRUCache<string, string>(TEXTS)
  const textOf = (sql: string) => {
    const known = texts.get(sql)
    if (known !== undefined) return known
    const text = returnsRows(sql) ? ROWS_WANTED + sql : sql
    texts.set(sql, text)
    return text
  }
  return ({ sql, params }: Statement): Encoded => encodeStatement({ sql: textOf(sql), params })
}

/** `/db/execute` returns no rows of a SELECT, so SQL counts them. */
const expectRows = ({ sql, params }: Statement, count: number): Statement => ({
  sql: failIf(`(SELECT count(*) FROM (${sql})) <> ?`),
  params: [...params, BigInt(count)]
})

/** The row of `_rowhouse_unit_values` with the changes of one statement, until those of the next one are added. */
const CHANGES_BEFORE = -1

const STORE_CHANGES: Statement = {
  sql: `INSERT INTO _rowhouse_unit_values (part, value) SELECT ${CHANGES_BEFORE}, changes()`,
  params: []
}

const DELETE_CHANGES: Statement = {
  sql: `DELETE FROM _rowhouse_unit_values WHERE part = ${CHANGES_BEFORE}`,
  params: []
}

const expectBoth = (count: number): Statement => ({
  sql: failIf(`changes() + (SELECT value FROM _rowhouse_unit_values WHERE part = ${CHANGES_BEFORE}) <> ?`),
  params: [BigInt(count)]
})

const stepsOf = (statement: Statement, position: number, next: Statement | undefined): readonly Step[] => {
  const { expect } = statement
  const added = (sql: Statement): Step => ({ statement: sql, position, isAdded: true })
  if (SELECT.test(statement.sql)) {
    if (typeof expect !== 'number') throw new Error('A SELECT in a unit is a check, which needs `expect`.')
    return [added(expectRows(statement, expect))]
  }
  const steps: Step[] = [{ statement, position, isAdded: false }]
  if (typeof expect === 'number') steps.push(added(expectChanges(expect)))
  if (typeof expect === 'object') steps.push(added(expectBoth(expect.both)), added(DELETE_CHANGES))
  if (typeof next?.expect === 'object') steps.push(added(STORE_CHANGES))
  return steps
}

/** Returns the statements of a unit, with a check after each one that expects a number of rows. `change`: its random id. */
export const composeUnit = (unit: Unit, options: UnitOptions | undefined, change: string): Composed => {
  const moves = !options?.keepsMemory && unit.some(changesMemory)
  const recorded = moves ? recordChange(change, unit.some(changesStructure)) : []
  const steps = [
    ...recorded.map((statement) => ({ statement, position: 0, isAdded: true })),
    ...unit.flatMap((statement, position) => stepsOf(statement, position, unit[position + 1]))
  ]
  return { steps, moves: moves ? 1 : 0 }
}

/** SQLite's message for a failed check of a unit without foreign keys, which names the step. */
const FAILED_STEP = /^bad JSON path: '!(\d+)'/

/** Returns the error of a step, with the position in its unit. */
export const errorOf = ({ position, isAdded }: Step, message: string): PlainError =>
  isAdded && (IS_FAILED_CHECK.test(message) || FAILED_STEP.test(message))
    ? { code: 'UNEXPECTED_CHANGES', message, statement: position }
    : toChangeError(message, position)

const toWriteResult = (result: Result): WriteResult => {
  const rows = toRows(result)
  return { changes: result.columns ? rows.length : (result.rows_affected ?? 0), rows }
}

/** Without a result of its own, a statement has the number of rows that it expects, or 0. */
const resultOf = (unit: Unit, position: number, own: Result | undefined): WriteResult =>
  own ? toWriteResult(own) : { changes: Number(unit[position]?.expect ?? 0), rows: [] }

/** Returns the results of a unit, one for each of its statements. `results`: of its steps. */
export const resultsOf = (unit: Unit, { steps }: Composed, results: readonly Result[]): readonly WriteResult[] => {
  const own = new Map(steps.flatMap(({ position, isAdded }, index) => (isAdded ? [] : [[position, results[index]]])))
  return unit.map((_, position) => resultOf(unit, position, own.get(position)))
}

/** Returns the results of a stored unit whose response was lost; null if its rows or numbers are not known. */
export const resultsWithoutRows = (unit: Unit): readonly WriteResult[] | null => {
  const isKnown = unit.every(({ sql, expect }) => typeof expect === 'number' && !returnsRows(sql))
  return isKnown ? unit.map(({ expect }) => ({ changes: Number(expect), rows: [] })) : null
}

/**
 * Returns the one text that runs steps without foreign keys. A check that fails names its step in the message, because rqlite
 * says nothing else about a text of several statements.
 */
export const composeText = (steps: readonly Step[]) => {
  const texts = steps.map(({ statement }, index) =>
    withFailure(withLiterals(statement), `json_extract('0', '!${index}')`)
  )
  return ['BEGIN IMMEDIATE', ...texts, 'COMMIT'].join(';\n')
}

/** Returns the position of the step that such a text names in its message. */
export const failedStep = (message: string): number | undefined => {
  const step = FAILED_STEP.exec(message)?.[1]
  return step === undefined ? undefined : Number(step)
}

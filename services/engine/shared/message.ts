import type { Row, SqlValue } from '../../model/sql-value.ts'
import type { Expected, Unit, UnitOptions } from '../../sql/statement.ts'
import type { WriteResults } from '../database.ts'
import type { PlainError } from './plain-error.ts'

/** The outcome of one unit: one result for each of its statements, or the error. */
export type Outcome = WriteResults | { readonly error: PlainError }

/** A unit, and how it runs. */
export interface UnitWithOptions {
  readonly unit: Unit
  readonly options: UnitOptions | undefined
}

type Item = SqlValue | Expected | UnitOptions | undefined

/**
 * Units for the writer thread, or outcomes from it, as one flat list: structured clone spends more time on an array or
 * object than on several values, and with nested arrays a create takes 16 to 29 % more CPU (docs/decisions/0009-batches.md).
 * Texts that repeat (SQL, column names) are sent once, and the list contains their positions.
 */
export interface PackedList {
  readonly texts: readonly string[]
  readonly items: readonly Item[]
}

/** The outcomes of units that were committed together, in their order. */
export interface PackedBatch {
  readonly outcomes: PackedList
  /** Characters of the large outcomes, which count as unread text until they arrive. */
  readonly largeSize: number
  /** Time of the statements and of the fsync. */
  readonly commitMs: number
  /** Another program has committed since the previous check. */
  readonly sawExternalCommit: boolean
}

/** From the writer thread. `failure`: the file could not be opened. */
export type WriterMessage =
  | { readonly ready: true }
  | { readonly failure: PlainError }
  | { readonly upgradeFrom: number }
  | { readonly batch: PackedBatch }
  | { readonly attached: PlainError | null }

/** Attaches the staging file of an import as a schema, or, with null, detaches it. Units may read the schema between. */
export interface Attachment {
  readonly schema: string
  readonly file: string | null
}

/** To the writer thread: units to write, an attachment, or the end. */
export type WriterRequest = PackedList | { readonly attachment: Attachment } | 'close'

/** The first item of a failed unit; a successful one has the number of its results there. */
const FAILED = -1

/** Numbers texts in the order of their first occurrence. */
const createDictionary = () => {
  const texts: string[] = []
  const positions = new Map<string, number>()
  const positionOf = (text: string) => {
    const position = positions.get(text)
    if (position !== undefined) return position
    positions.set(text, texts.length)
    return texts.push(text) - 1
  }
  return { texts, positionOf }
}

/** Reads the items in the order in which they were packed. */
const createReader = ({ texts, items }: PackedList) => {
  let position = 0
  const next = () => {
    position += 1
    return items[position - 1]
  }
  const count = () => Number(next())
  const repeat = <T>(length: number, read: () => T) => {
    const all: T[] = []
    while (all.length < length) all.push(read())
    return all
  }
  return {
    hasMore: () => position < items.length,
    count,
    repeat,
    /** A number, or undefined. */
    optional: () => next() as number | undefined,
    expected: () => next() as Expected | undefined,
    options: () => next() as UnitOptions | undefined,
    text: () => String(next()),
    value: () => next() as SqlValue,
    /** A text that is sent once. */
    sharedText: () => texts[count()] as string,
    values: (length: number) => {
      position += length
      return items.slice(position - length, position) as SqlValue[]
    }
  }
}

type Reader = ReturnType<typeof createReader>

const readAll = <T>(list: PackedList, read: (from: Reader) => T) => {
  const from = createReader(list)
  const all: T[] = []
  while (from.hasMore()) all.push(read(from))
  return all
}

/** For each unit: number of statements, options; for each statement: text, `expect`, number of parameters, parameters. */
export const packUnits = (requests: readonly UnitWithOptions[]): PackedList => {
  const { texts, positionOf } = createDictionary()
  const items: Item[] = []
  for (const { unit, options } of requests) {
    items.push(unit.length, options)
    for (const { sql, params, expect } of unit) {
      items.push(positionOf(sql), expect, params.length)
      for (const param of params) items.push(param)
    }
  }
  return { texts, items }
}

const readStatement = (from: Reader) => {
  const sql = from.sharedText()
  const expect = from.expected()
  const params = from.values(from.count())
  return expect === undefined ? { sql, params } : { sql, params, expect }
}

const readRequest = (from: Reader): UnitWithOptions => {
  const length = from.count()
  const options = from.options()
  return { unit: from.repeat(length, () => readStatement(from)), options }
}

export const unpackUnits = (list: PackedList): UnitWithOptions[] => readAll(list, readRequest)

/** For each outcome: number of results, time; for each result: changes, number of rows, number of columns, names, values. */
export const packOutcomes = (outcomes: readonly Outcome[]): PackedList => {
  const { texts, positionOf } = createDictionary()
  const items: Item[] = []
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      const { code, message, statement } = outcome.error
      items.push(FAILED, code, message, statement)
      continue
    }
    items.push(outcome.length, outcome.ms)
    for (const { changes, rows } of outcome) {
      const names = Object.keys(rows[0] ?? {})
      items.push(changes, rows.length, names.length, ...names.map(positionOf))
      for (const row of rows) for (const name of names) items.push(row[name])
    }
  }
  return { texts, items }
}

const readError = ({ text, optional }: Reader) => {
  const [code, message, statement] = [text(), text(), optional()]
  return { error: statement === undefined ? { code, message } : { code, message, statement } }
}

const readRow = (from: Reader, names: readonly string[]) => {
  const row: Row = {}
  for (const name of names) row[name] = from.value()
  return row
}

const readResult = (from: Reader) => {
  const changes = from.count()
  const length = from.count()
  const names = from.repeat(from.count(), from.sharedText)
  return { changes, rows: from.repeat(length, () => readRow(from, names)) }
}

const readResults = (from: Reader, length: number): WriteResults => {
  const ms = from.optional()
  const results = from.repeat(length, () => readResult(from))
  return ms === undefined ? results : Object.assign(results, { ms })
}

export const unpackOutcomes = (list: PackedList): Outcome[] =>
  readAll(list, (from) => {
    const length = from.count()
    return length === FAILED ? readError(from) : readResults(from, length)
  })

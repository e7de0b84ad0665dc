import type { Row, SqlValue } from '../../model/sql-value.ts'
import type { Unit } from '../../sql/statement.ts'
import type { Outcome } from '../writer/batch.ts'

type Item = SqlValue | undefined

/**
 * What crosses between the event loop and the writer thread, units there and outcomes back: one flat list, as every
 * array or object in it would take as long to copy as several values. SQL and the names of columns occur again and
 * again: they cross once, and the list has their positions.
 */
export interface Parcel {
  readonly texts: readonly string[]
  readonly items: readonly Item[]
}

/** Stands where a unit that succeeded has the number of its results. */
const FAILED = -1

/** Numbers texts in the order in which they first come. */
const createDictionary = () => {
  const texts: string[] = []
  const positions = new Map<string, number>()
  const positionOf = (text: string) => {
    const known = positions.get(text)
    if (known !== undefined) return known
    positions.set(text, texts.length)
    return texts.push(text) - 1
  }
  return { texts, positionOf }
}

/** Reads what was packed, in the order in which it was: the types are those of the packing. */
const createReader = ({ texts, items }: Parcel) => {
  let position = 0
  const next = () => {
    position += 1
    return items[position - 1]
  }
  const count = () => Number(next())
  const many = <T>(length: number, read: () => T) => {
    const all: T[] = []
    while (all.length < length) all.push(read())
    return all
  }
  return {
    hasMore: () => position < items.length,
    count,
    many,
    /** A number, or undefined. */
    optional: () => next() as number | undefined,
    text: () => String(next()),
    value: () => next() as SqlValue,
    /** A text that crosses once. */
    known: () => texts[count()] as string,
    values: (length: number) => {
      position += length
      return items.slice(position - length, position) as SqlValue[]
    }
  }
}

type Reader = ReturnType<typeof createReader>

const readAll = <T>(parcel: Parcel, read: (from: Reader) => T) => {
  const from = createReader(parcel)
  const all: T[] = []
  while (from.hasMore()) all.push(read(from))
  return all
}

/** Units: how many statements; of each its text, what it expects, how many parameters, and those. */
export const packUnits = (units: readonly Unit[]): Parcel => {
  const { texts, positionOf } = createDictionary()
  const items: Item[] = []
  for (const unit of units) {
    items.push(unit.length)
    for (const { sql, params, expect } of unit) {
      items.push(positionOf(sql), expect, params.length)
      for (const param of params) items.push(param)
    }
  }
  return { texts, items }
}

const readStatement = (from: Reader) => {
  const sql = from.known()
  const expect = from.optional()
  const params = from.values(from.count())
  return expect === undefined ? { sql, params } : { sql, params, expect }
}

export const unpackUnits = (parcel: Parcel): Unit[] =>
  readAll(parcel, (from) => from.many(from.count(), () => readStatement(from)))

/** Outcomes: how many results; of each its changes, how many rows and columns, their names, and the values. */
export const packOutcomes = (outcomes: readonly Outcome[]): Parcel => {
  const { texts, positionOf } = createDictionary()
  const items: Item[] = []
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      const { code, message, statement } = outcome.error
      items.push(FAILED, code, message, statement)
      continue
    }
    items.push(outcome.length)
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
  const names = from.many(from.count(), from.known)
  return { changes, rows: from.many(length, () => readRow(from, names)) }
}

export const unpackOutcomes = (parcel: Parcel): Outcome[] =>
  readAll(parcel, (from) => {
    const length = from.count()
    return length === FAILED ? readError(from) : from.many(length, () => readResult(from))
  })

import type { Database as Connection, Statement } from 'better-sqlite3'
import type { BoundValue } from './fake-request.ts'

/** One statement of a text. */
export interface Part {
  readonly statement: Statement<unknown[]>
  /** The number of its parameters. */
  readonly wanted: number
  readonly isNumbered: boolean
  /** The text after it. */
  readonly rest: string
}

const MAX_PREPARED = 1000
const NUMBERED = /\?(\d+)/g
const IS_CUT = /^(?:incomplete input|unrecognized token)/

/** Returns the number of a statement's parameters. better-sqlite3 shows it only by the errors of `bind`. */
const countParameters = (db: Connection, sql: string) => {
  const numbers = [...sql.matchAll(NUMBERED)].map(([, number]) => Number(number))
  if (numbers.length > 0) return Math.max(...numbers)
  const probe = db.prepare(sql)
  for (let count = 0; ; count++) {
    try {
      probe.bind(...Array(count).fill(null))
      return count
    } catch (error) {
      if (!(error instanceof RangeError) || /named/.test(error.message)) throw error
    }
  }
}

const toPart = (db: Connection, sql: string, rest: string): Part => ({
  statement: db.prepare(sql),
  wanted: countParameters(db, sql),
  isNumbered: sql.search(NUMBERED) >= 0,
  rest: rest.trim()
})

/** Compiles the shortest beginning of a text that is a statement. */
const firstPart = (db: Connection, text: string) => {
  for (let end = text.indexOf(';') + 1; end > 0; end = text.indexOf(';', end) + 1) {
    try {
      return toPart(db, text.slice(0, end), text.slice(end))
    } catch (error) {
      const isIncomplete = error instanceof RangeError || IS_CUT.test(String((error as Error).message))
      if (!isIncomplete) throw error
    }
  }
  return null
}

/** better-sqlite3 compiles only texts of one statement. It throws a RangeError for others. */
const compile = (db: Connection, text: string) => {
  try {
    return toPart(db, text, '')
  } catch (error) {
    if (error instanceof RangeError) return firstPart(db, text)
    throw error
  }
}

/** Returns a function that compiles the first statement of a text, or returns null if the text has none. */
export const createCompiler = (db: Connection) => {
  const parts = new Map<string, Part | null>()
  const first = (text: string) => {
    const known = parts.get(text)
    if (known !== undefined) return known
    const part = compile(db, text)
    if (parts.size >= MAX_PREPARED) parts.clear()
    parts.set(text, part)
    return part
  }
  /** Removes compiled statements, whose columns may be old. */
  const clear = () => parts.clear()
  return { first, clear }
}

/** Returns the arguments for better-sqlite3, which takes parameters such as `?1` by name. */
export const toArguments = ({ isNumbered, wanted }: Part, params: readonly BoundValue[]) => {
  const values = params.slice(0, wanted)
  return isNumbered ? [Object.fromEntries(values.map((value, i) => [i + 1, value]))] : values
}

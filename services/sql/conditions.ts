import { kindOf } from '../model/kinds/kind-of.ts'
import { type FoldedText, foldText } from '../model/letter-case.ts'
import { parseInteger } from '../model/literals.ts'
import type { SqlValue } from '../model/sql-value.ts'
import type { Column, ColumnType, RegisteredTable } from '../model/table.ts'
import { columnRef } from './identifiers.ts'
import { joinTerms } from './terms.ts'
import { matchAll, matchAny, matchOf } from './trigrams.ts'

/** A comparison as SQLite's query plan shows it: `>` for `>=` too, and `=` for IS NULL and IN. */
export interface Comparison {
  readonly column: string
  readonly operator: '=' | '<' | '>'
  readonly sql: string
  readonly params: readonly SqlValue[]
}

/** A condition on the rows of a table. It may be NULL, which counts as false. */
export interface Condition {
  readonly sql: string
  readonly params: readonly SqlValue[]
  /** SQL expression: bytes of text that the condition reads in one row. */
  readonly width: string
  /** The number of tests that one row may need. A long text counts as a fraction, or as several. */
  readonly tests: number
  /** Comparisons that an index can serve, of which all must hold. */
  readonly comparisons: readonly Comparison[]
  /** Whether one range of an index can serve the whole condition. IN reads a range for each value. */
  readonly isIndexable: boolean
  /** An FTS5 query that finds at least the rows of the condition in a search index. null: no query does. */
  readonly match: string | null
}

const SQL_OPERATORS = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const
const PLAN_OPERATORS = { eq: '=', gt: '>', gte: '>', lt: '<', lte: '<' } as const

export type ComparisonOperator = keyof typeof SQL_OPERATORS

type TableName = Pick<RegisteredTable, 'name'>

/** Returns the condition for the rows that a caller can read and change. `table`: its name or its alias in the statement. */
export type RowRule = (table: TableName) => Condition
type ColumnName = Pick<Column, 'name'>
type TypedColumn = ColumnName & ColumnType

interface ComparedColumn extends ColumnName {
  /** Compares texts by their bytes instead of the collation of the column, which no index may serve. */
  readonly isBinary?: boolean
}

/** Returns a column as a comparison or an order names it. */
export const comparedColumn = ({ name: table }: TableName, { name, isBinary }: ComparedColumn) =>
  isBinary ? `${columnRef(table, name)} COLLATE BINARY` : columnRef(table, name)

const NO_TEXT = '0'

/** Compares with the affinity and the collation of the column. */
export const compare = (
  table: TableName,
  column: ComparedColumn,
  operator: ComparisonOperator,
  value: SqlValue
): Condition => {
  const isIndexable = !column.isBinary
  const sql = `${comparedColumn(table, column)} ${SQL_OPERATORS[operator]} ?`
  const params = [value]
  return {
    sql,
    params,
    width: NO_TEXT,
    tests: 1,
    comparisons: isIndexable ? [{ column: column.name, operator: PLAN_OPERATORS[operator], sql, params }] : [],
    isIndexable,
    match: null
  }
}

/** Is also true for NULL. */
export const differs = ({ name: table }: TableName, { name: column }: ColumnName, value: SqlValue): Condition => ({
  sql: `${columnRef(table, column)} IS NOT ?`,
  params: [value],
  width: NO_TEXT,
  tests: 1,
  comparisons: [],
  isIndexable: false,
  match: null
})

export const isNull = ({ name: table }: TableName, { name: column }: ColumnName, expected: boolean): Condition => {
  const sql = `${columnRef(table, column)} ${expected ? 'IS' : 'IS NOT'} NULL`
  return {
    sql,
    params: [],
    width: NO_TEXT,
    tests: 1,
    comparisons: expected ? [{ column, operator: '=', sql, params: [] }] : [],
    isIndexable: expected,
    match: null
  }
}

/** SQLite reads a number without a fraction or an exponent as an integer, and a double beyond 2^53 would be another one. */
const numberToJson = (value: number) => (/[.e]/.test(String(value)) ? String(value) : `${value}.0`)

const toJson = (value: SqlValue) => {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return numberToJson(value)
  return JSON.stringify(value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)
}

/** Binds all values as one JSON array: a list of parameters would need an SQL text for each length. */
export const isIn = ({ name: table }: TableName, column: ColumnName, values: readonly SqlValue[]): Condition => {
  const value = values[0] instanceof Uint8Array ? 'unhex(value)' : 'value'
  const sql = `${columnRef(table, column.name)} IN (SELECT ${value} FROM temp.json_each(?))`
  const params = [`[${values.map(toJson).join(',')}]`]
  return {
    sql,
    params,
    width: NO_TEXT,
    tests: 1,
    comparisons: [{ column: column.name, operator: '=', sql, params }],
    isIndexable: false,
    match: null
  }
}

/** Also true for NULL. */
export const isNotIn = (table: TableName, column: ColumnName, values: readonly SqlValue[]): Condition => {
  const found = isIn(table, column, values)
  return { ...found, sql: `(${found.sql}) IS NOT TRUE`, comparisons: [] }
}

const widthOf = (value: string) => `ifnull(octet_length(${value}), 0)`

/**
 * BLOBs never match. In a text column they are rare, so the type is tested after a match. In other columns the type is
 * tested first, so that a large BLOB is not read.
 */
const matchText = (table: string, column: TypedColumn, match: (value: string) => string) => {
  const value = columnRef(table, column.name)
  const isNotBlob = `typeof(${value}) <> 'blob'`
  const matches = match(value)
  return `(${(column.sqliteType === 'TEXT' ? [matches, isNotBlob] : [isNotBlob, matches]).join(' AND ')})`
}

/** Maximum number of different letters beyond ASCII whose case one text folds: the alphabets of most languages have fewer. */
const MAX_LETTERS = 40
/** Maximum number of such letters in a search, for all columns together. Each is a function call in the SQL. */
const MAX_LETTERS_OF_SEARCH = 3000
/** A shorter part is in too many rows. */
const MIN_PLAIN_PART = 3

/** Returns SQL for a value in lower case. Binds the letters. */
const inLowerCase = (value: string, { letters }: FoldedText) =>
  letters.reduce((sql) => `replace(${sql}, ?, ?)`, `lower(${value})`)

const formsOf = ({ letters }: FoldedText) => letters.flatMap(({ upper, lower }) => [upper, lower])

/** SQL for one column, and what it binds. */
interface TextMatch {
  readonly sql: (value: string) => string
  readonly params: readonly SqlValue[]
}

/**
 * Returns a condition that is true for all values with the text, and that few others meet: `replace` for each letter takes
 * longer than all else. null: there is no letter to replace.
 */
const precondition = ({ letters: [first], plainPart }: FoldedText): TextMatch | null => {
  if (!first) return null
  return plainPart.length >= MIN_PLAIN_PART
    ? { sql: (value) => `instr(lower(${value}), ?)`, params: [plainPart] }
    : { sql: (value) => `(instr(${value}, ?) OR instr(${value}, ?))`, params: [first.upper, first.lower] }
}

/** Not LIKE: on a long text of near matches LIKE took 170 ms a MiB, `instr` takes 6. LIKE also ends at NUL. */
const contains = (folded: FoldedText): TextMatch => {
  const before = precondition(folded)
  const found = (value: string) => `instr(${inLowerCase(value, folded)}, ?)`
  return {
    sql: before ? (value) => `${before.sql(value)} AND ${found(value)}` : found,
    params: [...(before?.params ?? []), ...formsOf(folded), folded.text]
  }
}

/** `range`: the last arguments of `substr`. They bind `bound`: the text of a rule must not contain its values. */
interface TextRange {
  readonly range: string
  readonly bound: number
}

/** `substr` counts code points, as the iterator of a string does. Each form of a letter is one. */
const endsOrStarts = (folded: FoldedText, { range, bound }: TextRange): TextMatch => ({
  sql: (value) => `${inLowerCase(`substr(${value}, ${range})`, folded)} = ?`,
  params: [BigInt(bound), ...formsOf(folded), folded.text]
})

/**
 * `instr` may compare all of the text at each position of the value. Characters that then take as long as another test: on
 * 900 kB of one letter, a text of 60,000 of this letter and another one took 1 s.
 */
const CHARACTERS_PER_TEST = 330

export type TextOperator = 'contains' | 'startsWith' | 'endsWith'

/** Ignores the case of all letters that have one lower and one upper form. */
export const matchesText = (
  { name: table }: TableName,
  column: TypedColumn,
  operator: TextOperator,
  text: string,
  maxLetters = MAX_LETTERS
): Condition => {
  const folded = foldText(text, maxLetters)
  const { length } = [...text]
  const { sql, params } = {
    contains: () => contains(folded),
    startsWith: () => endsOrStarts(folded, { range: '1, ?', bound: length }),
    endsWith: () => endsOrStarts(folded, { range: '?', bound: -length })
  }[operator]()
  return {
    sql: matchText(table, column, sql),
    params,
    width: widthOf(columnRef(table, column.name)),
    tests: 1 + folded.letters.length + (operator === 'contains' ? length / CHARACTERS_PER_TEST : 0),
    comparisons: [],
    isIndexable: false,
    match: matchOf(folded.text, operator !== 'contains')
  }
}

const sqlOf = (conditions: readonly Condition[]) => conditions.map(({ sql }) => sql)
const paramsOf = (conditions: readonly Condition[]) => conditions.flatMap(({ params }) => params)

const totalWidth = (conditions: readonly Condition[]) => {
  const widths = [...new Set(conditions.map(({ width }) => width))].filter((width) => width !== NO_TEXT)
  return joinTerms([NO_TEXT, ...widths], '+')
}

const totalTests = (conditions: readonly Condition[]) => conditions.reduce((sum, { tests }) => sum + tests, 0)

const matchesOf = (conditions: readonly Condition[]) => conditions.map(({ match }) => match)

/** All conditions. Without conditions it is true. */
export const allOf = (conditions: readonly Condition[]): Condition => {
  const [first, ...others] = conditions
  if (first && others.length === 0) return first
  return {
    sql: first ? joinTerms(sqlOf(conditions), 'AND') : '1',
    params: paramsOf(conditions),
    width: totalWidth(conditions),
    tests: totalTests(conditions),
    comparisons: conditions.flatMap(({ comparisons }) => comparisons),
    isIndexable: conditions.every(({ isIndexable }) => isIndexable),
    match: matchAll(matchesOf(conditions))
  }
}

/**
 * Returns the condition on a joined record: no index of the selected table serves it. Without IS TRUE, SQLite may make an
 * inner join of the LEFT JOIN, and read the selected table once for each row of the other one.
 */
export const onJoinedRecord = (condition: Condition): Condition => ({
  ...condition,
  sql: `(${condition.sql}) IS TRUE`,
  comparisons: [],
  isIndexable: false,
  match: null
})

/** At least one of the conditions. Without conditions it is false. */
export const anyOf = (conditions: readonly Condition[]): Condition => ({
  sql: joinTerms(['0', ...sqlOf(conditions)], 'OR'),
  params: paramsOf(conditions),
  width: totalWidth(conditions),
  tests: totalTests(conditions),
  comparisons: [],
  isIndexable: false,
  match: matchAny(matchesOf(conditions))
})

/** None of the conditions, in two-valued logic: a condition that is NULL counts as false. */
export const noneOf = (conditions: readonly Condition[]): Condition => {
  const any = anyOf(conditions)
  return { ...any, sql: `${any.sql} IS NOT TRUE`, match: null }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

const toNumber = (q: string): SqlValue | null => {
  if (!NUMBER.test(q)) return null
  const number = Number(q)
  return parseInteger(q) ?? (Number.isFinite(number) ? number : null)
}

/** Matches `q` as a case-insensitive substring of text columns, and as the value of numeric columns if it is a number. */
export const search = (table: TableName, columns: readonly Column[], q: string): Condition => {
  const number = toNumber(q)
  const textual = columns.filter((column) => kindOf(column).isTextual)
  const numeric = number === null ? [] : columns.filter((column) => kindOf(column).isNumeric)
  const maxLetters = Math.min(MAX_LETTERS, Math.floor(MAX_LETTERS_OF_SEARCH / textual.length))
  return anyOf([
    ...textual.map((column) => matchesText(table, column, 'contains', q, maxLetters)),
    ...numeric.map((column) => compare(table, column, 'eq', number))
  ])
}

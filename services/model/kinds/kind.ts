import type { IntegerFormat } from '../../../schemas/token.ts'
import type { Violation } from '../errors.ts'
import type { SqlValue } from '../sql-value.ts'
import type { Column, ColumnType } from '../table.ts'

/** The value to store, or the reason why it is invalid. */
export type Checked = { readonly value: SqlValue } | { readonly violation: Violation }

interface TextContext {
  /** The table is STRICT: a column holds values of its declared type only. */
  readonly isStrict: boolean
  /** Returns an SQL expression for a BLOB as base64 text. */
  base64(value: string): string
}

export interface JsonContext extends TextContext {
  readonly integers: IntegerFormat
}

export interface CsvContext extends TextContext {
  /** Prefixes text that a spreadsheet would run as a formula. */
  readonly escapesFormulas: boolean
}

/** A cell of a CSV file. Texts are quoted in an export, and numbers are not. */
export interface CsvCell {
  readonly text: string
  readonly isQuoted: boolean
}

/** A JSON Schema of the values of a kind, without null. Without a `type` it accepts any value. */
export interface KindSchema {
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | 'object' | 'array'
  readonly [keyword: string]: unknown
}

/** How the values of a column are checked, compared, read and written. `value` in SQL: an expression for the column. */
export interface Kind {
  readonly name: string
  /** A search looks for a substring of it. */
  readonly isTextual: boolean
  /** A search looks for an equal number. It can be incremented. */
  readonly isNumeric: boolean
  /**
   * The column has no affinity: the number 5 and the text '5' are different values with the same key text, and base64
   * text looks like the bytes that it encodes.
   */
  readonly isUntyped: boolean
  /** Returns the stored form of a JSON value other than null, without any coercion. A `bigint` is a wide integer. */
  check(value: unknown, column: ColumnType, integers: IntegerFormat): Checked
  /**
   * Returns the stored values that the text of a key can stand for, or undefined if it is not the canonical text of
   * any: two values for an untyped column, one for any other.
   */
  parseKey(text: string): readonly SqlValue[] | undefined
  /** Returns the schema of the JSON values of a column whose values all fit. */
  schema(column: Column, integers: IntegerFormat): KindSchema
  /** Returns the canonical text of a key: the text that `parseKey` accepts. */
  keyText(value: SqlValue): string
  /** Returns the stored values with the same JSON as this one: three for an untyped column, one for any other. */
  sameInJson(value: SqlValue): readonly SqlValue[]
  /** Returns an SQL expression for the value in `json_object`. */
  json(value: string, context: JsonContext): string
  /**
   * Returns the stored form of a cell of a CSV file, without any guess: the inverse of `csv`. Not for an empty cell
   * without quotes, which is NULL.
   */
  parseCell(cell: CsvCell, column: Column): Checked
  /** Returns an SQL expression for the CSV cell; NULL for NULL. */
  csv(value: string, context: CsvContext): string
}

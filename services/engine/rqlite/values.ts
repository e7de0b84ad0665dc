import type { Row, SqlValue } from '../../model/sql-value.ts'
import { tokensOf } from '../../sql/lexer.ts'
import type { Statement } from '../../sql/statement.ts'

/** Statements as rqlite gets them, with the JSON text of each. */
export type Encoded = string

/** A result of a statement, as rqlite sends it. */
export interface Result {
  readonly columns?: readonly string[]
  readonly values?: readonly (readonly unknown[])[]
  readonly rows_affected?: number
  readonly error?: string
}

/** A text that rqlite would take for bytes: https://rqlite.io/docs/api/api/#blob-data */
const LOOKS_LIKE_BYTES = /^[\s\u0085]*x'/i

const toHex = (bytes: Uint8Array) => JSON.stringify(`x'${Buffer.from(bytes).toString('hex')}'`)

/** Returns the JSON of a double. An integer would be bound as such. */
const encodeDouble = (value: number) => {
  if (Number.isNaN(value)) return 'null'
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text
}

const encodeValue = (value: SqlValue) => {
  if (value === null) return 'null'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return encodeDouble(value)
  return typeof value === 'string' ? JSON.stringify(value) : toHex(value)
}

/** What stands in the SQL for a parameter that JSON or rqlite would change, and the JSON of its value. */
const replacementOf = (value: SqlValue): { readonly sql: string; readonly json: string | null } | null => {
  if (value === Number.POSITIVE_INFINITY) return { sql: '9e999', json: null }
  if (value === Number.NEGATIVE_INFINITY) return { sql: '-9e999', json: null }
  if (typeof value !== 'string' || !LOOKS_LIKE_BYTES.test(value)) return null
  return { sql: 'CAST(? AS TEXT)', json: toHex(Buffer.from(value)) }
}

const encodeReplaced = ({ sql, params }: Statement) => {
  const marks = tokensOf(sql).filter(({ text }) => text === '?')
  const pieces: string[] = []
  const values: string[] = []
  let start = 0
  for (const [position, { index }] of marks.entries()) {
    const value = params[position] as SqlValue
    const replacement = replacementOf(value)
    if (replacement) {
      pieces.push(sql.slice(start, index), replacement.sql)
      start = index + 1
    }
    const json = replacement ? replacement.json : encodeValue(value)
    if (json !== null) values.push(json)
  }
  return `[${[JSON.stringify(pieces.join('') + sql.slice(start)), ...values].join(',')}]`
}

/** Returns the JSON of a statement with its parameters. Each value keeps its storage class, and each number all digits. */
export const encodeStatement = (statement: Statement): Encoded => {
  const { sql, params } = statement
  if (params.some((value) => replacementOf(value) !== null)) return encodeReplaced(statement)
  return `[${[JSON.stringify(sql), ...params.map(encodeValue)].join(',')}]`
}

export const encodeAll = (statements: readonly Encoded[]) => `[${statements.join(',')}]`

/** Returns the literal of a value, for a text of several statements, which can have no parameters. */
export const literalOf = (value: SqlValue): string => {
  if (value === null || Number.isNaN(value)) return 'NULL'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return replacementOf(value)?.sql ?? encodeDouble(value)
  if (typeof value !== 'string') return `x'${Buffer.from(value).toString('hex')}'`
  if (value.includes('\0')) return `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`
  return `'${value.replaceAll("'", "''")}'`
}

/** Returns the text of a statement with its values as literals. */
export const withLiterals = ({ sql, params }: Statement) => {
  const marks = tokensOf(sql).filter(({ text }) => text === '?')
  let text = ''
  let start = 0
  for (const [position, { index }] of marks.entries()) {
    text += sql.slice(start, index) + literalOf(params[position] as SqlValue)
    start = index + 1
  }
  return text + sql.slice(start)
}

/** With `blob_array`, bytes are a list. A column that is declared BOOLEAN has true and false. */
const decodeValue = (value: unknown): SqlValue => {
  if (Array.isArray(value)) return Uint8Array.from(value)
  return typeof value === 'boolean' ? Number(value) : (value as SqlValue)
}

/** Returns the rows of a result. The boundary where the values of a response get their type. */
export const toRows = ({ columns = [], values = [] }: Result): readonly Row[] =>
  values.map((row) => Object.fromEntries(columns.map((name, index) => [name, decodeValue(row[index])])))

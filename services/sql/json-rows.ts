import { identifier } from './identifiers.ts'
import type { RowSource } from './statement.ts'

/**
 * Rows as JSON text: a list of lists of values. The values that SQLite makes of the text are exact, also integers of 64 bits,
 * doubles, infinities and texts with NUL. A BLOB is an object with its hexadecimal text, because JSON has no bytes.
 */

/** SQLite's functions take at most 1,000 arguments. */
const VALUES_OF_CALL = 500

const BLOB_KEY = 'x'
/** Is in the JSON text of a row if, and only if, it has a BLOB: JSON escapes the quotes inside texts. */
const BLOB_START = `{"${BLOB_KEY}":`

const jsonValue = (value: string) =>
  `iif(typeof(${value}) = 'blob', json_object('${BLOB_KEY}', hex(${value})), ${value})`

/** Returns an expression for the JSON text of values. Their own JSON never begins or ends with a bracket. */
export const rowJson = (values: readonly string[]) => {
  const count = Math.ceil(values.length / VALUES_OF_CALL)
  const lists = Array.from({ length: count }, (_, index) => {
    const part = values.slice(index * VALUES_OF_CALL, (index + 1) * VALUES_OF_CALL)
    return `trim(json_array(${part.map(jsonValue).join(', ')}), '[]')`
  })
  return `'[' || ${lists.join(" || ',' || ")} || ']'`
}

/** Returns an aggregate for the JSON text of rows. `row`: the JSON text of a row. */
export const joinRows = (row: string) => `'[' || coalesce(group_concat(${row}, ','), '') || ']'`

const exactValue = (index: number, mayBeBlob: boolean) => {
  const value = `value ->> ${index}`
  if (!mayBeBlob) return value
  return `iif(json_type(value, '$[${index}]') = 'object', unhex(value ->> '$[${index}].${BLOB_KEY}'), ${value})`
}

/** Returns the rows of a JSON text, with a name for each value. They have no order. */
export const fromJsonRows = (names: readonly string[], json: string): RowSource => {
  const mayBeBlob = json.includes(BLOB_START)
  const columns = names.map((name, index) => `${exactValue(index, mayBeBlob)} AS ${identifier(name)}`)
  return { from: `(SELECT ${columns.join(', ')} FROM json_each(?))`, params: [json] }
}

import type { Column } from '../tables/registered-table.ts'
import { type ColumnKind, kindOf } from './column-kind.ts'
import { identifier } from './identifiers.ts'
import { finiteReal } from './record-json.ts'

const CELLS_PER_CALL = 500

/** What a spreadsheet may take for a formula, behind white space too: = + - @ TAB CR (OWASP, CSV injection). */
const FORMULA_START = /^[ \n\v\f\u00a0]*[=+\-@\t\r]/
const WHITE_SPACE = 'char(32, 10, 11, 12, 160)'
const FORMULA_GLOB = "'[=+@' || char(9, 13) || '-]*'"

const quoted = (text: string) => `'"' || replace(${text}, '"', '""') || '"'`

/** Text is always quoted, so that '' differs from NULL, and numbers never are. NULL stays NULL. */
const textCell = (text: string, guard: boolean) =>
  guard
    ? `CASE WHEN ltrim(${text}, ${WHITE_SPACE}) GLOB ${FORMULA_GLOB} THEN ${quoted(`'''' || ${text}`)} ELSE ${quoted(text)} END`
    : quoted(text)

const anyCell = (value: string, guard: boolean) =>
  `CASE typeof(${value}) WHEN 'integer' THEN ${value} WHEN 'real' THEN ${finiteReal(value)} WHEN 'blob' THEN ${textCell(`base64(${value})`, guard)} ELSE ${textCell(value, guard)} END`

const truthCell = (value: string, guard: boolean) =>
  `CASE ${value} WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE ${anyCell(value, guard)} END`

const strictCells: Partial<Record<ColumnKind, (value: string, guard: boolean) => string>> = {
  integer: (value) => value,
  real: finiteReal,
  text: textCell,
  json: textCell
}

const cell = (column: Column, isStrict: boolean, guard: boolean) => {
  const value = identifier(column.name)
  const kind = kindOf(column)
  if (kind === 'boolean') return truthCell(value, guard)
  return ((isStrict && strictCells[kind]) || anyCell)(value, guard)
}

const joined = (parts: readonly string[]): string => {
  if (parts.length <= CELLS_PER_CALL) return `concat_ws(',', ${parts.join(', ')})`
  return joined([joined(parts.slice(0, CELLS_PER_CALL)), ...parts.slice(CELLS_PER_CALL)])
}

/** An expression for a record as one line of CSV (RFC 4180) without its line end. `guard`: against formulas. */
export const recordCsv = (columns: readonly Column[], isStrict: boolean, guard: boolean) =>
  joined(columns.map((column) => `coalesce(${cell(column, isStrict, guard)}, '')`))

/** The header line, under the same rules as the cells. */
export const csvHeader = (columns: readonly Column[], guard: boolean) =>
  columns
    .map(({ name }) => (guard && FORMULA_START.test(name) ? `'${name}` : name))
    .map((name) => `"${name.replaceAll('"', '""')}"`)
    .join(',')

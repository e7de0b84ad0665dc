import { type ColumnKind, kindOf } from '../model/column-kind.ts'
import type { Column } from '../model/table.ts'
import { identifier } from './identifiers.ts'
import { finiteReal } from './record-json.ts'

const CELLS_PER_CALL = 500

/** Code points that show as nothing and that a spreadsheet may skip. TAB and CR are no part: they begin formulas. */
const BLANK = [
  10, 11, 12, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202,
  8203, 8232, 8233, 8239, 8287, 8288, 12288, 65279
]

/** What a spreadsheet may take for a formula: = + - @ TAB CR (OWASP, CSV injection), and the full-width forms. */
const FORMULA = ['=', '+', '@', '\t', '\r', '\uff1d', '\uff0b', '\uff20', '\uff0d', '-'].join('')

const FORMULA_START = new RegExp(`^[${String.fromCodePoint(...BLANK)}]*[${FORMULA}]`, 'u')
const WHITE_SPACE = `char(${BLANK.join(', ')})`
const FORMULA_GLOB = `'[' || char(${[...FORMULA].map((character) => character.codePointAt(0)).join(', ')}) || ']*'`

const quoted = (text: string) => `'"' || replace(${text}, '"', '""') || '"'`

/**
 * Text is always quoted, so that '' differs from NULL, and numbers never are. NULL stays NULL. Most texts begin with a
 * letter or digit, which is quicker to see than that they do not begin with a formula.
 */
const textCell = (text: string, guard: boolean) =>
  guard
    ? `CASE WHEN ${text} GLOB '[A-Za-z0-9]*' THEN ${quoted(text)} WHEN ltrim(${text}, ${WHITE_SPACE}) GLOB ${FORMULA_GLOB} THEN ${quoted(`'''' || ${text}`)} ELSE ${quoted(text)} END`
    : quoted(text)

/** Base64 holds no quotes; of what begins a formula only `+`, which is what these first bytes give. */
const blobCell = (blob: string, guard: boolean) => {
  const start = guard ? `iif(substr(${blob}, 1, 1) BETWEEN x'F8' AND x'FB', '"''', '"')` : `'"'`
  return `${start} || base64(${blob}) || '"'`
}

const anyCell = (value: string, guard: boolean) =>
  `CASE typeof(${value}) WHEN 'integer' THEN ${value} WHEN 'real' THEN ${finiteReal(value)} WHEN 'blob' THEN ${blobCell(value, guard)} ELSE ${textCell(value, guard)} END`

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

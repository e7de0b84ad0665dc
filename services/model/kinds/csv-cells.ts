import { finite, isBlob, isNumber } from './json-values.ts'
import type { CsvContext } from './kind.ts'

/** Code points that are invisible and that a spreadsheet may skip. TAB and CR are not here: they start formulas. */
const BLANK = [
  10, 11, 12, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202,
  8203, 8232, 8233, 8239, 8287, 8288, 12288, 65279
]

/** Characters that start a formula in a spreadsheet: = + - @ TAB CR (OWASP, CSV injection), and full-width forms. */
const FORMULA = ['=', '+', '@', '\t', '\r', '\uff1d', '\uff0b', '\uff20', '\uff0d', '-'].join('')

/**
 * A text that gets a leading `'`: a formula, and a formula that starts with quotes already. So exactly these texts are
 * the ones that have one `'` more in the export, and removing it restores every value.
 */
const NEEDS_QUOTE = new RegExp(`^'*[${String.fromCodePoint(...BLANK)}]*[${FORMULA}]`, 'u')

/** Returns the text without the `'` that an export with `escape=formulas` has added. */
export const unescapeFormula = (text: string) =>
  text.startsWith("'") && NEEDS_QUOTE.test(text.slice(1)) ? text.slice(1) : text

const WHITE_SPACE = `char(${BLANK.join(', ')})`
const FORMULA_GLOB = `'[' || char(${[...FORMULA].map((character) => character.codePointAt(0)).join(', ')}) || ']*'`

const quoted = (text: string) => `'"' || replace(${text}, '"', '""') || '"'`

/**
 * Text is always quoted, so that '' differs from NULL; numbers never are. Most texts start with a letter or a digit,
 * which is cheaper to test than the start of a formula.
 */
export const textCell = (text: string, { escapesFormulas }: CsvContext) =>
  escapesFormulas
    ? `CASE WHEN ${text} GLOB '[A-Za-z0-9]*' THEN ${quoted(text)} WHEN ltrim(ltrim(${text}, ''''), ${WHITE_SPACE}) GLOB ${FORMULA_GLOB} THEN ${quoted(`'''' || ${text}`)} ELSE ${quoted(text)} END`
    : quoted(text)

/** Base64 has no quotes. Of the characters that start a formula it has only `+`, from first bytes F8 to FB. */
const blobCell = (blob: string, { escapesFormulas, base64 }: CsvContext) => {
  const start = escapesFormulas ? `iif(substr(${blob}, 1, 1) BETWEEN x'F8' AND x'FB', '"''', '"')` : `'"'`
  return `${start} || ${base64(blob)} || '"'`
}

/** A value of any type: a table that is not STRICT can store any type in any column. */
export const anyCell = (value: string, context: CsvContext) =>
  `CASE WHEN ${isBlob(value)} THEN ${blobCell(value, context)} WHEN ${isNumber(value)} THEN ${finite(value)} ELSE ${textCell(value, context)} END`

/** A name in the header line, under the same rules as a text cell. */
export const headerCell = (name: string, escapesFormulas: boolean) => {
  const text = escapesFormulas && NEEDS_QUOTE.test(name) ? `'${name}` : name
  return `"${text.replaceAll('"', '""')}"`
}

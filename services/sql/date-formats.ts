import { foldName } from '../model/names.ts'
import type { DateFormat } from '../model/table.ts'
import { checkTermsIn, type Tokens } from './checks.ts'
import { declaresCollation, isKeyword, nameIn, textIn } from './lexer.ts'

/** The arguments of `strftime` whose results have a format of JSON Schema. `datetime` has no `T` and no offset. */
const FORMATS: ReadonlyMap<string, DateFormat> = new Map([
  ['%Y-%m-%d', 'date'],
  ['%Y-%m-%dT%H:%M:%SZ', 'date-time'],
  ['%Y-%m-%dT%H:%M:%fZ', 'date-time']
])

/** A bound that no number and no year before 0001 reaches. */
const FIRST_DATE = /^(?!0000)\d{4}-\d\d-\d\d/

const isBound = (token: string) => FIRST_DATE.test(textIn(token) ?? '')

/** Returns the column and the format of `date(a)` or `strftime('…', a)`. */
const callIn = (tokens: Tokens): readonly [column: string, DateFormat] | undefined => {
  const [name, open, first = '', comma, second = ''] = tokens
  const isDate = isKeyword(name, 'DATE') && tokens.length === 4
  const isStrftime = isKeyword(name, 'STRFTIME') && comma === ',' && tokens.length === 6
  if (open !== '(' || !(isDate || isStrftime)) return undefined
  const column = nameIn(isDate ? first : second)
  const format = isDate ? 'date' : FORMATS.get(textIn(first) ?? '')
  return column === undefined || format === undefined ? undefined : [foldName(column), format]
}

/** Returns the column and the format of `a IS date(a)` or `date(a) IS a`. With `=`, a text that is no date passes. */
const formatIn = (term: Tokens): readonly [column: string, DateFormat] | undefined => {
  const isFirst = isKeyword(term[1], 'IS')
  if (!isFirst && !isKeyword(term.at(-2), 'IS')) return undefined
  const call = callIn(isFirst ? term.slice(2) : term.slice(0, -2))
  const name = nameIn(String(isFirst ? term[0] : term.at(-1)))
  return call && name !== undefined && foldName(name) === call[0] ? call : undefined
}

/** Returns the column of `a >= '1900-01-01'` or `a BETWEEN '1900-01-01' AND …`, with any such date. */
const boundedIn = (term: Tokens): string | undefined => {
  const [name = '', operator = '', bound] = term
  const isComparison = ['>', '>='].includes(operator) && term.length === 3
  const isRange = isKeyword(operator, 'BETWEEN') && term.length === 5
  const column = nameIn(name)
  return (isComparison || isRange) && column !== undefined && isBound(String(bound)) ? foldName(column) : undefined
}

/**
 * Returns the formats that the CHECK constraints of a CREATE TABLE statement require of texts, by the folded name of the
 * column. A value must be what `date` or `strftime` returns for it, and not less than a date: SQLite also has years
 * before 0001, which most programs cannot read. Nothing is certain if the statement declares a collation.
 */
export const dateFormats = (sql: string): ReadonlyMap<string, DateFormat> => {
  if (declaresCollation(sql)) return new Map()
  const terms = checkTermsIn(sql)
  const bounded = new Set(terms.map(boundedIn))
  return new Map(
    terms.flatMap((term) => {
      const found = formatIn(term)
      return found && bounded.has(found[0]) ? [found] : []
    })
  )
}

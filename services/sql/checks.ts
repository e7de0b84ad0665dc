import { foldName } from '../model/names.ts'
import type { Checks } from '../model/table.ts'
import { declaresCollation, endOfPart, isKeyword, nameIn, partsOf, splitTokens, textIn, tokenTexts } from './lexer.ts'

/** How SQLite compares the values of a column, as far as a check can be read: texts by BINARY, numbers as such. */
export type ComparedKind = 'integer' | 'real' | 'text'

/** Returns the compared kind of a column, or undefined for another name and for a column of any other kind. */
export type FindComparedKind = (name: string) => ComparedKind | undefined

/** One check of one column. */
type Finding = readonly [column: string, checks: Checks]

export type Tokens = readonly string[]

const OPENING = '('
const CLOSING = ')'

/** Words that are values, also if a column has such a name in quotes. */
const VALUE_WORD = /^(?:null|true|false|current_(?:date|time|timestamp))$/i

const isGroup = (tokens: Tokens) => tokens[0] === OPENING && endOfPart(tokens, 0) === tokens.length

/** Returns the expressions of the CHECKs. No unquoted name can be the keyword CHECK. */
const checkExpressionsIn = (tokens: Tokens): readonly Tokens[] =>
  tokens.flatMap((token, index) =>
    isKeyword(token, 'CHECK') && tokens[index + 1] === OPENING
      ? [tokens.slice(index + 2, endOfPart(tokens, index + 1) - 1)]
      : []
  )

/** Counts a keyword outside parentheses. */
const count = (tokens: Tokens, word: string) => partsOf(tokens).filter(([token]) => isKeyword(token, word)).length

/** Each BETWEEN has an AND of its own. */
const lacksAnd = (term: Tokens) => count(term, 'AND') < count(term, 'BETWEEN')

/**
 * Returns the terms of a conjunction. Returns none if the tokens contain OR or CASE: then no single term must hold, as in
 * `a > 1 AND b > 2 OR c > 3`.
 */
const conjuncts = (tokens: Tokens): readonly Tokens[] => {
  if (isGroup(tokens)) return conjuncts(tokens.slice(1, -1))
  if (count(tokens, 'OR') > 0 || count(tokens, 'CASE') > 0) return []
  const terms = splitTokens(tokens, 'AND', lacksAnd)
  return terms.length === 1 ? terms : terms.flatMap(conjuncts)
}

/** Returns the terms that the CHECK constraints of a CREATE TABLE statement require: all of them, or NULL. */
export const checkTermsIn = (sql: string): readonly Tokens[] => checkExpressionsIn(tokenTexts(sql)).flatMap(conjuncts)

const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** Returns a number that JavaScript holds exactly, with its sign, or undefined for any other tokens. */
const numberIn = (tokens: Tokens): number | undefined => {
  const [sign, digits = ''] = tokens[0] === '-' || tokens[0] === '+' ? tokens : ['', ...tokens]
  if (!NUMBER.test(digits) || tokens.length !== (sign ? 2 : 1)) return undefined
  const value = sign === '-' ? -Number(digits) : Number(digits)
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)
  return isExact ? value : undefined
}

const literalIn = (tokens: Tokens, kind: ComparedKind): string | number | undefined => {
  if (kind === 'text') return tokens.length === 1 ? textIn(tokens[0] as string) : undefined
  const value = numberIn(tokens)
  return kind === 'integer' && !Number.isInteger(value) ? undefined : value
}

/** A longer list is not read: responses contain it. */
const MAX_ALLOWED_VALUES = 200

/** Returns undefined if one of the literals is of another kind, or NULL: then every value passes. */
const allowed = (list: Tokens, kind: ComparedKind): Checks | undefined => {
  const values = splitTokens(list.slice(1, -1), ',').map((item) => literalIn(item, kind))
  const isRead = values.length <= MAX_ALLOWED_VALUES && values.every((value) => value !== undefined)
  return isRead ? { allowedValues: [...new Set(values)] } : undefined
}

/** The bounds of an integer are integers: `> 1.5` and `>= 2` are the same. `> 0` of a real becomes `>= 0`. */
const atLeast = (limit: number, isExclusive: boolean, isInteger: boolean) => {
  if (!isInteger) return limit
  return isExclusive ? Math.floor(limit) + 1 : Math.ceil(limit)
}

const atMost = (limit: number, isExclusive: boolean, isInteger: boolean) =>
  -atLeast(-limit, isExclusive, isInteger) || 0

const atLeastZero = (length: number | undefined) => length && Math.max(length, 0)

const defined = (checks: { readonly [Name in keyof Checks]: Checks[Name] | undefined }): Checks =>
  Object.fromEntries(Object.entries(checks).filter(([, value]) => value !== undefined))

interface Subject {
  readonly column: string
  readonly isLength: boolean
  readonly isInteger: boolean
}

const boundsOf = ({ isLength }: Subject, minimum: number | undefined, maximum: number | undefined): Checks =>
  isLength
    ? defined({ minLength: atLeastZero(minimum), maxLength: atLeastZero(maximum) })
    : defined({ minimum, maximum })

const MIRRORED: Record<string, string> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

const compared = (subject: Subject, operator: string, limit: number): Checks => {
  const isExclusive = operator.length === 1
  return operator.startsWith('>')
    ? boundsOf(subject, atLeast(limit, isExclusive, subject.isInteger), undefined)
    : boundsOf(subject, undefined, atMost(limit, isExclusive, subject.isInteger))
}

/** Returns the bounds in `subject operator limit`, or undefined. */
const comparison = (subject: Subject, [operator = '', ...limit]: Tokens): Checks | undefined => {
  const value = numberIn(limit)
  return value === undefined || MIRRORED[operator] === undefined ? undefined : compared(subject, operator, value)
}

const between = (subject: Subject, range: Tokens): Checks | undefined => {
  const and = range.findIndex((token) => isKeyword(token, 'AND'))
  const [from, to] = [numberIn(range.slice(0, and)), numberIn(range.slice(and + 1))]
  if (from === undefined || to === undefined) return undefined
  return boundsOf(subject, atLeast(from, false, subject.isInteger), atMost(to, false, subject.isInteger))
}

/** Bounds of a text, or the length of a number, are not certain. */
const isMeasurable = (kind: ComparedKind, isLength: boolean) => isLength === (kind === 'text')

/** Returns the column or its length at the begin of a term, and the tokens after it. */
const subjectOf = (term: Tokens, find: FindComparedKind): readonly [Subject, ComparedKind, Tokens] | undefined => {
  const isLength = isKeyword(term[0], 'LENGTH') && term[1] === OPENING && term[3] === CLOSING
  const token = term[isLength ? 2 : 0] ?? ''
  const column = VALUE_WORD.test(token) ? undefined : nameIn(token)
  const kind = column === undefined ? undefined : find(column)
  if (column === undefined || kind === undefined) return undefined
  return [{ column, isLength, isInteger: isLength || kind === 'integer' }, kind, term.slice(isLength ? 4 : 1)]
}

/** Turns `5 <= a` into `a >= 5`. */
const subjectFirst = (term: Tokens): Tokens => {
  const index = term.findIndex((token) => MIRRORED[token] !== undefined)
  if (index < 1 || numberIn(term.slice(0, index)) === undefined) return term
  return [...term.slice(index + 1), MIRRORED[term[index] as string] as string, ...term.slice(0, index)]
}

const checksOf = (subject: Subject, kind: ComparedKind, rest: Tokens): Checks | undefined => {
  const [word, ...operands] = rest
  if (isKeyword(word, 'IN') && isGroup(operands) && !subject.isLength) return allowed(operands, kind)
  if (!isMeasurable(kind, subject.isLength)) return undefined
  return isKeyword(word, 'BETWEEN') ? between(subject, operands) : comparison(subject, rest)
}

const findingIn = (term: Tokens, find: FindComparedKind): Finding | undefined => {
  const found = subjectOf(subjectFirst(term), find)
  const checks = found && checksOf(...found)
  return checks && [foldName(found[0].column), checks]
}

const larger = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)

const smaller = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)

const intersection = (one: Checks['allowedValues'], other: Checks['allowedValues']) => {
  if (!one || !other) return one ?? other
  const values = one.filter((value) => other.includes(value))
  return values.length > 0 ? values : undefined
}

const both = (one: Checks, other: Checks): Checks =>
  defined({
    allowedValues: intersection(one.allowedValues, other.allowedValues),
    minimum: larger(one.minimum, other.minimum),
    maximum: smaller(one.maximum, other.maximum),
    minLength: larger(one.minLength, other.minLength),
    maxLength: smaller(one.maxLength, other.maxLength)
  })

/**
 * Returns what the CHECK constraints of a CREATE TABLE statement require of each column, by its folded name. Each check
 * counts for the column that it names, wherever it is declared. Only these forms are read, joined by AND: `a IN (…)`
 * with literals, `a BETWEEN n AND m`, comparisons with a number, and both for `length(a)`. Texts are not read if the
 * statement declares a collation: 'A' may equal 'a' then.
 */
export const columnChecks = (sql: string, find: FindComparedKind): ReadonlyMap<string, Checks> => {
  const hasCollation = declaresCollation(sql)
  const findCertain: FindComparedKind = (name) => {
    const kind = find(name)
    return kind === 'text' && hasCollation ? undefined : kind
  }
  const byColumn = new Map<string, Checks>()
  for (const term of checkTermsIn(sql)) {
    const [column, checks] = findingIn(term, findCertain) ?? []
    if (column !== undefined && checks) byColumn.set(column, both(byColumn.get(column) ?? {}, checks))
  }
  return byColumn
}

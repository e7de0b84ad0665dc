import type { Token } from './lexer.ts'
import { currentAt, findNodeValue, isCurrent, literalText, type TimeCall, timeCallAt } from './node-values.ts'

/** The default of a column as an expression in which the time is a parameter, so that all nodes store the same value. */
export interface TimeExpression {
  readonly sql: string
  /** How often the time is bound: in seconds since 1970, with a fraction of milliseconds. */
  readonly times: number
}

/** A part of an expression that is replaced. */
interface Replacement {
  /** Positions of tokens. */
  readonly start: number
  readonly end: number
  readonly sql: string
}

const FUNCTION_OF: Record<string, string> = {
  CURRENT_TIMESTAMP: 'datetime',
  CURRENT_DATE: 'date',
  CURRENT_TIME: 'time'
}

/** Modifiers that depend on the time value being a text, or on the node. */
const OTHER_MODIFIERS = ['auto', 'unixepoch', 'julianday', 'localtime', 'utc']

const isSimple = (modifier: readonly Token[]) => {
  const text = literalText(modifier)
  return text !== undefined && !OTHER_MODIFIERS.includes(text)
}

const sqlOf = (arg: readonly Token[]) => arg.map(({ text }) => text).join(' ')

/** Returns the call with a parameter for the current time, or undefined if it cannot be replaced. */
const withTime = ({ name, format, values, modifiers }: TimeCall): string | undefined => {
  // Without a format, strftime() returns NULL.
  if (name === 'timediff' || (name === 'strftime' && format.length === 0)) return undefined
  // The time value 'subsec' is also a modifier.
  const all = [...values.filter((value) => literalText(value) !== 'now'), ...modifiers]
  if (![...format, ...all].every(isSimple)) return undefined
  return `${name}(${[...format.map(sqlOf), '?', "'unixepoch'", ...all.map(sqlOf)].join(', ')})`
}

const replacementAt = (tokens: readonly Token[], start: number): Replacement | undefined => {
  const current = currentAt(tokens, start)
  if (current) return { start, end: start + 1, sql: `${FUNCTION_OF[current]}(?, 'unixepoch')` }
  const call = timeCallAt(tokens, start)
  const sql = call && isCurrent(call) ? withTime(call) : undefined
  return call && sql !== undefined ? { start, end: call.end, sql } : undefined
}

const endOf = ({ text, index }: Token) => index + text.length

/** Returns the text of the tokens with the replacements. */
const replaceIn = (sql: string, tokens: readonly Token[], replacements: readonly Replacement[]) => {
  const [first, last] = [tokens[0], tokens.at(-1)] as [Token, Token]
  let position = first.index
  let text = ''
  for (const { start, end, sql: replaced } of replacements) {
    const [from, to] = [tokens[start], tokens[end - 1]] as [Token, Token]
    text += sql.slice(position, from.index) + replaced
    position = endOf(to)
  }
  return text + sql.slice(position, endOf(last))
}

/**
 * Returns the value of a DEFAULT clause with parameters for the current time. null: the value may differ between nodes for
 * another reason, or is the same on all. `sql`: the declaration to which the tokens belong.
 */
export const timeExpression = (sql: string, tokens: readonly Token[]): TimeExpression | null => {
  const replacements = [...tokens.keys()].flatMap((index) => replacementAt(tokens, index) ?? [])
  const rest = tokens.filter((_, index) => !replacements.some(({ start, end }) => start <= index && index < end))
  // In another statement, a text in double quotes would be a name.
  const hasQuotes = rest.some(({ text }) => /^["`[]/.test(text))
  if (replacements.length === 0 || hasQuotes || findNodeValue(rest)) return null
  return { sql: replaceIn(sql, tokens, replacements), times: replacements.length }
}

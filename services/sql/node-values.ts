import { foldName } from '../model/names.ts'
import { endOfPart, isKeyword, nameIn, splitTokens, type Token, textIn } from './lexer.ts'

/** Why an expression may have another value on each node of a cluster: docs/decisions/0048-replicable-tables.md. */
export interface NodeValue {
  /** The end of a sentence about what uses the expression. */
  readonly cause: string
  readonly remedy: string
}

const OTHER_TIME = 'Send the time with each record, or let a trigger copy it from NEW.'

const RANDOM = ['random', 'randomblob']
/** A node begins with zeros when it restarts, and the others do not. */
const CONNECTION = ['last_insert_rowid', 'changes', 'total_changes']
const TIME_FUNCTIONS = ['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', 'timediff']
const CURRENT = ['CURRENT_TIMESTAMP', 'CURRENT_DATE', 'CURRENT_TIME']
const NOW = ['now', 'subsec', 'subsecond']
const ZONES = ['localtime', 'utc']
/** Versions of SQLite, statistics, pages of the file. AUTOINCREMENT writes the same `sqlite_sequence` on all nodes. */
const LOCAL_NAME = /^(?:sqlite_(?!sequence$)|pragma_|dbstat$)/
/** Before the name of a table with columns in parentheses. */
const NOT_CALLED = ['INTO', 'REFERENCES', 'TABLE', 'VIEW', '.']

const textOf = (tokens: readonly Token[], index: number) => tokens[index]?.text

/** Returns the folded name of the function that is called at the position. */
const calledAt = (tokens: readonly Token[], index: number): string | undefined => {
  if (textOf(tokens, index + 1) !== '(') return undefined
  if (NOT_CALLED.some((word) => isKeyword(textOf(tokens, index - 1), word))) return undefined
  const name = nameIn(String(textOf(tokens, index)))
  return name && foldName(name)
}

/** Returns the keyword of the current time at the position. */
export const currentAt = (tokens: readonly Token[], index: number) =>
  textOf(tokens, index - 1) === '.' ? undefined : CURRENT.find((word) => isKeyword(textOf(tokens, index), word))

/** A call of a function of date and time. https://sqlite.org/lang_datefunc.html */
export interface TimeCall {
  readonly name: string
  /** The position of the token after the call. */
  readonly end: number
  /** The format of strftime(). */
  readonly format: readonly (readonly Token[])[]
  /** The time values: two for timediff(), none for the current time. */
  readonly values: readonly (readonly Token[])[]
  readonly modifiers: readonly (readonly Token[])[]
}

export const timeCallAt = (tokens: readonly Token[], index: number): TimeCall | undefined => {
  const name = calledAt(tokens, index)
  if (name === undefined || !TIME_FUNCTIONS.includes(name)) return undefined
  const end = endOfPart(tokens, index + 1)
  const args = splitTokens(tokens.slice(index + 2, end - 1), ',').filter((arg) => arg.length > 0)
  const first = name === 'strftime' ? 1 : 0
  const last = name === 'timediff' ? 2 : first + 1
  return { name, end, format: args.slice(0, first), values: args.slice(first, last), modifiers: args.slice(last) }
}

/** Returns the folded text of an argument that is a literal text. */
export const literalText = (arg: readonly Token[]) => {
  const text = arg.length === 1 ? textIn(String(textOf(arg, 0))) : undefined
  return text === undefined ? undefined : foldName(text)
}

const isNow = (arg: readonly Token[]) => NOW.includes(String(literalText(arg)))

export const isCurrent = ({ values }: TimeCall) => values.length === 0 || values.some(isNow)

const isNumber = (text: string | undefined) => /^[\d.]/.test(String(text)) && text !== '.'

/** Whether the argument is a number: a literal, or the result of arithmetic with one. A text could be 'now'. */
const isNumeric = (arg: readonly Token[]) =>
  isNumber(arg.at(-1)?.text) && (arg.length === 1 || ['+', '-', '*', '/', '%'].includes(String(arg.at(-2)?.text)))

const isFixed = (arg: readonly Token[]) => literalText(arg) !== undefined || isNumeric(arg)

const timeProblem = (call: TimeCall, isGuarded: boolean): NodeValue | undefined => {
  const { name, values, modifiers } = call
  if (isCurrent(call)) return { cause: `${name}() returns the time of each node`, remedy: OTHER_TIME }
  if (modifiers.some((arg) => ZONES.includes(String(literalText(arg))))) {
    return { cause: `${name}() uses the time zone of each node`, remedy: 'Store times in UTC.' }
  }
  if (isGuarded || [...values, ...modifiers].every(isFixed)) return undefined
  return {
    cause: `${name}() of a stored text returns the time of each node if the text is 'now'`,
    remedy: 'Add 0 to a value that is a number, or compute it in a generated column, in which SQLite refuses it.'
  }
}

/**
 * Returns why the value at the position may differ between nodes. `isGuarded`: in a CHECK, an index or a generated column
 * SQLite refuses the current time and the time zone, whatever text leads to them.
 */
const problemAt = (tokens: readonly Token[], index: number, isGuarded: boolean): NodeValue | undefined => {
  const current = currentAt(tokens, index)
  if (current) return { cause: `${current} is the time of each node`, remedy: OTHER_TIME }
  const name = foldName(nameIn(String(textOf(tokens, index))) ?? '')
  if (LOCAL_NAME.test(name)) {
    return { cause: `${name} differs between nodes`, remedy: 'Use values of the record instead.' }
  }
  const called = calledAt(tokens, index)
  if (called === undefined) return undefined
  if (RANDOM.includes(called)) {
    return { cause: `${called}() has another value on each node`, remedy: 'Send the value with each record.' }
  }
  if (CONNECTION.includes(called)) {
    const remedy = 'Use the key in NEW, or select it.'
    return { cause: `${called}() is lost on a node that restarts`, remedy }
  }
  const call = timeCallAt(tokens, index)
  return call && timeProblem(call, isGuarded)
}

/** Returns why the value of an expression, or the effect of a trigger, may differ between nodes. */
export const findNodeValue = (tokens: readonly Token[], isGuarded = false): NodeValue | undefined => {
  for (const index of tokens.keys()) {
    const problem = problemAt(tokens, index, isGuarded)
    if (problem) return problem
  }
  return undefined
}

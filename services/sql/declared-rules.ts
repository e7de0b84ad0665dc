import { foldName } from '../model/names.ts'
import { endOfPart, isKeyword, type Token, tokensOf } from './lexer.ts'

/** A rule that the SQL of a table declares: a CHECK, a unique index on expressions, or a RAISE in a trigger. */
export interface DeclaredRule {
  /** The texts that SQLite's message may have for the rule. */
  readonly reported: readonly string[]
  /** The name of the rule, or else its SQL. For a RAISE, the message. */
  readonly label: string
  /** The folded names in the expression of the rule. They may also be names of functions and keywords. */
  readonly names: ReadonlySet<string>
}

const CLOSING: Readonly<Record<string, string>> = { "'": "'", '"': '"', '`': '`', '[': ']' }

/** Returns the content of a quoted token at the start of the text, or the whole text if it starts with none. */
const unquoteStart = (text: string) => {
  const end = CLOSING[text.charAt(0)]
  if (end === undefined) return text
  const quoted = String(tokensOf(text)[0]?.text)
  return quoted.slice(1, -1).replaceAll(end + end, end)
}

/** Returns the folded names in a statement. They may also be names of functions and keywords. */
export const namesIn = (sql: string): ReadonlySet<string> =>
  new Set(
    tokensOf(sql)
      .filter(({ text }) => !text.startsWith("'"))
      .map(({ text }) => foldName(unquoteStart(text)))
  )

/** Returns the text inside the parentheses that open at this token. */
const insideParentheses = (sql: string, tokens: readonly Token[], open: number) =>
  sql.slice(Number(tokens[open]?.index) + 1, tokens[endOfPart(tokens, open) - 1]?.index).trim()

/**
 * Returns the CHECKs of a CREATE TABLE statement. SQLite's message has the name of the CHECK or else its expression.
 * If the expression starts with a quoted token, the message has only the content of this token (SQLite 3.53).
 */
export const checksIn = (sql: string): readonly DeclaredRule[] => {
  const tokens = tokensOf(sql)
  return tokens.flatMap((token, index): DeclaredRule[] => {
    if (!isKeyword(token.text, 'CHECK') || tokens[index + 1]?.text !== '(') return []
    const expression = insideParentheses(sql, tokens, index + 1)
    const name = isKeyword(tokens[index - 2]?.text, 'CONSTRAINT')
      ? unquoteStart(String(tokens[index - 1]?.text))
      : undefined
    const label = name ?? expression
    return [{ reported: [label, unquoteStart(label)], label, names: namesIn(expression) }]
  })
}

/** Returns the messages of a CREATE TRIGGER statement that are literals. Other messages may contain stored values. */
export const raisesIn = (sql: string): readonly DeclaredRule[] => {
  const tokens = tokensOf(sql)
  return tokens.flatMap((token, index): DeclaredRule[] => {
    const literal = tokens[index + 4]?.text
    if (!isKeyword(token.text, 'RAISE') || !literal?.startsWith("'")) return []
    const label = unquoteStart(literal)
    return [{ reported: [label], label, names: new Set() }]
  })
}

/** Returns the rule of a CREATE INDEX statement. */
export const ruleOfIndex = (name: string, sql: string): DeclaredRule => ({
  reported: [name],
  label: name,
  names: namesIn(sql.slice(sql.indexOf('(')))
})

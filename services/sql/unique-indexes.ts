import { ruleOfIndex } from './declared-rules.ts'
import { endOfPart, isKeyword, splitTokens, tokenTexts } from './lexer.ts'

/** A unique index with expressions or a condition. Its SQL names the columns without their table. */
export interface ComputedUniqueIndex {
  readonly name: string
  /** The folded names in its SQL: of columns, functions and keywords. */
  readonly names: ReadonlySet<string>
  /** The columns and expressions, each with its collation if it declares one. */
  readonly terms: readonly string[]
  /** The records that the index has; null for all. */
  readonly condition: string | null
}

const withoutDirection = (tokens: readonly string[]) => {
  const last = tokens.at(-1)
  return isKeyword(last, 'ASC') || isKeyword(last, 'DESC') ? tokens.slice(0, -1) : tokens
}

/** Reads a CREATE INDEX statement of the schema. */
export const uniqueIndexOf = (name: string, sql: string): ComputedUniqueIndex => {
  const tokens = tokenTexts(sql)
  const open = tokens.indexOf('(')
  const close = endOfPart(tokens, open) - 1
  const terms = splitTokens(tokens.slice(open + 1, close), ',')
  // What follows is nothing, or WHERE and the condition.
  const condition = tokens.slice(close + 2).join(' ')
  return {
    name,
    names: ruleOfIndex(name, sql).names,
    terms: terms.map((term) => withoutDirection(term).join(' ')),
    condition: condition === '' ? null : condition
  }
}

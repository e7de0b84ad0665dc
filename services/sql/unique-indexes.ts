import { isKeyword, tokenTexts } from './lexer.ts'

/** A unique index with expressions or a condition. Its SQL names the columns without their table. */
export interface UniqueIndex {
  readonly name: string
  /** The CREATE INDEX statement. */
  readonly sql: string
  /** The columns and expressions, each with its collation if it declares one. */
  readonly terms: readonly string[]
  /** The records that the index has; null for all. */
  readonly condition: string | null
}

/** Returns the depth of parentheses at each token. Those of the outermost pair have the depth 1, like their content. */
const depthsOf = (tokens: readonly string[]) => {
  let depth = 0
  return tokens.map((token) => {
    if (token === '(') depth += 1
    const here = depth
    if (token === ')') depth -= 1
    return here
  })
}

const withoutDirection = (tokens: readonly string[]) => {
  const last = tokens.at(-1)
  return isKeyword(last, 'ASC') || isKeyword(last, 'DESC') ? tokens.slice(0, -1) : tokens
}

/** Reads a CREATE INDEX statement of the schema. */
export const uniqueIndexOf = (name: string, sql: string): UniqueIndex => {
  const tokens = tokenTexts(sql)
  const depths = depthsOf(tokens)
  const open = tokens.indexOf('(')
  const close = tokens.findIndex((token, index) => token === ')' && depths[index] === 1)
  const terms: string[][] = [[]]
  for (let index = open + 1; index < close; index += 1) {
    if (tokens[index] === ',' && depths[index] === 1) terms.push([])
    else terms.at(-1)?.push(tokens[index] as string)
  }
  // What follows is nothing, or WHERE and the condition.
  const condition = tokens.slice(close + 2).join(' ')
  return {
    name,
    sql,
    terms: terms.map((term) => withoutDirection(term).join(' ')),
    condition: condition === '' ? null : condition
  }
}

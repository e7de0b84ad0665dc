/** SQLite's tokens: quoted names, text, comments, numbers, words, operators, and any other character. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w$\u0080-\uffff])|[\w$\u0080-\uffff]+|[<>!=]=|<>|\S/gi

export interface Token {
  readonly text: string
  /** Its position in the statement. */
  readonly index: number
}

/** Returns the tokens of a statement without its comments, with their positions. */
export const tokensOf = (sql: string): readonly Token[] =>
  [...sql.matchAll(TOKEN)].flatMap(({ 0: text, index }) => (/^(?:--|\/\*)/.test(text) ? [] : [{ text, index }]))

/** Returns the texts of the tokens of a statement, without its comments. */
export const tokenTexts = (sql: string): readonly string[] => tokensOf(sql).map(({ text }) => text)

const isWord = (token: string) => /^[\w$\u0080-\uffff]/.test(token)

const QUOTE = /^["`[]/

/** Returns the name that a token stands for, or undefined for a text, a number or an operator. */
export const nameIn = (token: string): string | undefined => {
  if (isWord(token)) return /^\d/.test(token) ? undefined : token
  if (!QUOTE.test(token)) return undefined
  const [quote, name] = [token.slice(-1), token.slice(1, -1)]
  return quote === ']' ? name : name.replaceAll(quote + quote, quote)
}

/** Returns the value of a text literal, or undefined for any other token. */
export const textIn = (token: string): string | undefined =>
  token.startsWith("'") ? token.slice(1, -1).replaceAll("''", "'") : undefined

/** Whether the token is this keyword. `word`: in upper case. */
export const isKeyword = (token: string | undefined, word: string) => token?.toUpperCase() === word

const textOf = (token: string | Token | undefined) => (typeof token === 'object' ? token.text : token)

/** Returns the position after the token at `start`, or after the group in parentheses that this token opens. */
export const endOfPart = (tokens: readonly (string | Token)[], start: number) => {
  let depth = 0
  for (let index = start; index < tokens.length; index += 1) {
    const text = textOf(tokens[index])
    if (text === '(') depth += 1
    if (text === ')') depth -= 1
    if (depth <= 0) return index + 1
  }
  return tokens.length
}

/** Returns the parts of which the tokens consist: each token outside parentheses, and each group in parentheses. */
export const partsOf = <T extends string | Token>(tokens: readonly T[]) => {
  const parts: (readonly [T, ...T[]])[] = []
  for (let start = 0; start < tokens.length; ) {
    const end = endOfPart(tokens, start)
    parts.push(tokens.slice(start, end) as [T, ...T[]])
    start = end
  }
  return parts
}

/** Splits tokens at the separators outside parentheses. `isInside`: whether the separator belongs to the term. */
export const splitTokens = <T extends string | Token>(
  tokens: readonly T[],
  separator: string,
  isInside = (_term: readonly T[]) => false
): readonly (readonly T[])[] => {
  const terms: T[][] = []
  let term: T[] = []
  for (const part of partsOf(tokens)) {
    if (isKeyword(textOf(part[0]), separator) && !isInside(term)) {
      terms.push(term)
      term = []
    } else term = term.concat(part)
  }
  return [...terms, term]
}

/** Returns the keywords and the unquoted names of a statement in upper case, in order. */
const wordsOf = (sql: string) =>
  tokenTexts(sql)
    .filter(isWord)
    .map((token) => token.toUpperCase())

/** Whether AUTOINCREMENT is declared, which no pragma returns. */
export const declaresAutoIncrement = (sql: string) => wordsOf(sql).includes('AUTOINCREMENT')

/** Whether a constraint is declared ON CONFLICT REPLACE, which deletes the conflicting row. */
export const declaresReplace = (sql: string) =>
  wordsOf(sql).some((word, index, words) => word === 'REPLACE' && words[index - 1] === 'CONFLICT')

/** Whether a constraint is declared with an ON CONFLICT clause. */
export const declaresConflicts = (sql: string) =>
  wordsOf(sql).some((word, index, words) => word === 'CONFLICT' && words[index - 1] === 'ON')

/** Whether a statement of a trigger has a conflict clause: INSERT OR, UPDATE OR and REPLACE INTO. */
export const hasConflictClause = (sql: string) =>
  tokenTexts(sql).some((token, index, tokens) => {
    if (isKeyword(token, 'REPLACE')) return isKeyword(tokens[index + 1], 'INTO')
    return isKeyword(tokens[index + 1], 'OR') && (isKeyword(token, 'INSERT') || isKeyword(token, 'UPDATE'))
  })

/** Whether a collation other than BINARY is declared for any column. */
export const declaresCollation = (sql: string) =>
  tokenTexts(sql).some((token, index, tokens) => isKeyword(token, 'COLLATE') && !isKeyword(tokens[index + 1], 'BINARY'))

/** Returns the position of the table's name in `UPDATE name`, `UPDATE OR IGNORE name` and `INTO name`. */
const targetIndex = (tokens: readonly string[], index: number) => {
  if (isKeyword(tokens[index], 'INTO')) return index + 1
  if (!isKeyword(tokens[index], 'UPDATE')) return undefined
  return isKeyword(tokens[index + 1], 'OR') ? index + 3 : index + 1
}

/** Returns the names of the tables into which a trigger may write new values. It may return other names, too. */
export const triggerTargets = (sql: string): readonly string[] => {
  const tokens = tokenTexts(sql)
  return tokens.flatMap((_, index) => nameIn(tokens[targetIndex(tokens, index) ?? -1] ?? '') ?? [])
}

/** Returns the position of the table's name in the statements that may change the number of rows. */
const changedIndex = (tokens: readonly string[], index: number) =>
  isKeyword(tokens[index], 'DELETE') && isKeyword(tokens[index + 1], 'FROM') ? index + 2 : targetIndex(tokens, index)

/**
 * Returns the names of the tables whose number of rows a trigger may change. It may return other names, too. null: they
 * cannot be found out.
 */
export const tablesCountedBy = (sql: string): readonly string[] | null => {
  const tokens = tokenTexts(sql)
  const names: string[] = []
  for (const index of tokens.keys()) {
    const position = changedIndex(tokens, index)
    if (position === undefined) continue
    const token = tokens[position] ?? ''
    const name = nameIn(token) ?? textIn(token)
    if (name === undefined) return null
    names.push(name)
  }
  return names
}

/** Whether a trigger may skip the change that fires it: RAISE(IGNORE). */
export const maySkip = (sql: string) =>
  tokenTexts(sql).some((token, index, tokens) => isKeyword(token, 'IGNORE') && tokens[index - 1] === '(')

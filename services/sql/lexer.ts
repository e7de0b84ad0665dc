/** SQLite's tokens: quoted names, text, comments, numbers, words, operators, and any other character. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w$\u0080-\uffff])|[\w$\u0080-\uffff]+|[<>!=]=|<>|\S/gi

/** Returns the tokens of a statement without its comments, with their positions. */
export const tokensOf = (sql: string) =>
  [...sql.matchAll(TOKEN)].flatMap(({ 0: text, index }) => (/^(?:--|\/\*)/.test(text) ? [] : [{ text, index }]))

/** The same without positions. */
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

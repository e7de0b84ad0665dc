/** SQLite's tokens: quoted names, text, comments, words, and any other character. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|[\w$\u0080-\uffff]+|\S/g

/** Returns the tokens of a statement without its comments, with their positions. */
export const tokensOf = (sql: string) =>
  [...sql.matchAll(TOKEN)].flatMap(({ 0: text, index }) => (/^(?:--|\/\*)/.test(text) ? [] : [{ text, index }]))

/** Returns the keywords and the unquoted names of a statement in upper case, in order. */
const wordsOf = (sql: string) =>
  (sql.match(TOKEN) ?? []).filter((token) => /^\w/.test(token)).map((token) => token.toUpperCase())

/** Whether AUTOINCREMENT is declared, which no pragma returns. */
export const declaresAutoIncrement = (sql: string) => wordsOf(sql).includes('AUTOINCREMENT')

/** Whether a constraint is declared ON CONFLICT REPLACE, which deletes the conflicting row. */
export const declaresReplace = (sql: string) =>
  wordsOf(sql).some((word, index, words) => word === 'REPLACE' && words[index - 1] === 'CONFLICT')

/** Quoted names, text, comments, words, and any other character, as SQLite tells them apart. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|[\w$\u0080-\uffff]+|\S/g

/** The bare words of a statement in upper case, in order: keywords, and names that are not quoted. */
const wordsOf = (sql: string) =>
  (sql.match(TOKEN) ?? []).filter((token) => /^\w/.test(token)).map((token) => token.toUpperCase())

/** Whether AUTOINCREMENT is declared: the pragmas do not tell. */
export const declaresAutoIncrement = (sql: string) => wordsOf(sql).includes('AUTOINCREMENT')

/** Whether some constraint deletes the row that is in the way of a new one. */
export const declaresReplace = (sql: string) =>
  wordsOf(sql).some((word, index, words) => word === 'REPLACE' && words[index - 1] === 'CONFLICT')

const TEXTS = /'(?:[^']|'')*'/g
const NAMES = /"[^"`]*"|`[^"`]*`/g

/** Statements that SQLite accepts and rqlite's own parser does not. Tried on rqlite 10; there are more. */
const UNKNOWN = [
  // A name in brackets; a quote in a name of the other quotes; a letter outside ASCII without quotes
  /[[\]"`]/,
  /[^\0-\x7f]/,
  /\bis\s+(?:not\s+)?distinct\s+from\b/i,
  /\bon\s+conflict\b.*\bon\s+conflict\b/is,
  /\border\s+by\b.*\blimit\b.*\breturning\b/is,
  /\bas\s+''/i
]

/**
 * Returns whether rqlite finds RETURNING in a text, and so returns the rows. It looks for the word with a space after
 * it, then parses the first statement with its own parser.
 */
export const findsReturning = (sql: string) => {
  if (!sql.toLowerCase().includes('returning ')) return false
  const rest = sql.replaceAll(TEXTS, "''").replaceAll(NAMES, 'name')
  const [first = ''] = rest.replaceAll(/--[^\n]*|\/\*.*?\*\//gs, ' ').split(';')
  if (UNKNOWN.some((pattern) => pattern.test(first))) return false
  return /^\s*(?:with|insert|replace|update|delete)\b.*\breturning\b/is.test(first)
}

declare const quoted: unique symbol

/** A name that is safe in SQL text. Only this file creates values of the type, so an unquoted name cannot be used. */
export type Identifier = string & { readonly [quoted]: true }

/** Quotes any name, including keywords (https://sqlite.org/lang_keywords.html). */
export const identifier = (name: string): Identifier => {
  if (name.includes('\0')) throw new Error('A name in SQL text must not contain NUL: it would end the statement.')
  return `"${name.replaceAll('"', '""')}"` as Identifier
}

/**
 * Returns `"table"."column"`. Without the table, SQLite takes the quoted name of a column that no longer exists as a
 * string literal (https://sqlite.org/quirks.html#dblquote); with it, the statement fails with "no such column".
 */
export const columnRef = (table: string, column: string) => `${identifier(table)}.${identifier(column)}` as Identifier

/** Quotes text as a literal, for positions where SQL accepts no parameter: labels in expressions, DEFAULT clauses. */
export const textLiteral = (text: string) => {
  if (text.includes('\0')) throw new Error('A literal in SQL text must not contain NUL: it would end the statement.')
  return `'${text.replaceAll("'", "''")}'`
}

declare const quoted: unique symbol

/**
 * A name that is safe to stand in SQL text. Only `identifier` makes one, so that a raw name cannot be used by mistake.
 */
export type Identifier = string & { readonly [quoted]: true }

/** Quotes any name, keywords and odd ones included (https://sqlite.org/lang_keywords.html). */
export const identifier = (name: string): Identifier => {
  if (name.includes('\0')) throw new Error('A name in SQL text must not contain NUL: it would end the statement.')
  return `"${name.replaceAll('"', '""')}"` as Identifier
}

/** A text literal, for the few places where SQL takes no parameter: labels inside expressions, DEFAULT clauses. */
export const textLiteral = (text: string) => {
  if (text.includes('\0')) throw new Error('A literal in SQL text must not contain NUL: it would end the statement.')
  return `'${text.replaceAll("'", "''")}'`
}

/** Returns a text as one word of a shell. */
export const shellQuoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Puts a token into the environment of a shell, where the snippets read it. */
export const exported = (token: string) => `export ROWHOUSE_TOKEN=${shellQuoted(token)}`

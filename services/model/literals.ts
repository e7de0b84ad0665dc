/** The integers that SQLite stores. */
export const INT64 = { first: -(2n ** 63n), last: 2n ** 63n - 1n }

/** Parses the canonical text of a 64-bit integer, or returns undefined: `01`, `+1`, `1.0` and `-0` are invalid. */
export const parseInteger = (text: string): bigint | undefined => {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined
  const value = BigInt(text)
  return value < INT64.first || value > INT64.last ? undefined : value
}

/** Returns the bytes of canonical base64 (RFC 4648, section 4), or undefined. */
export const parseBase64 = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** Whether numeric affinity converts the text into a number: https://sqlite.org/datatype3.html#type_affinity */
export const looksNumeric = (text: string) =>
  /^[ \t-\r]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?[ \t-\r]*$/i.test(text)

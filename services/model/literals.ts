/** The integers that SQLite stores. */
export const INT64 = { first: -(2n ** 63n), last: 2n ** 63n - 1n }

/** Parses the canonical text of a 64-bit integer, or returns undefined: `01`, `+1`, `1.0` and `-0` are invalid. */
export const parseInteger = (text: string): bigint | undefined => {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined
  const value = BigInt(text)
  return value < INT64.first || value > INT64.last ? undefined : value
}

/** Parses a decimal number of JSON, also one that a double cannot hold: Infinity. Returns undefined for other texts. */
export const parseReal = (text: string): number | undefined =>
  /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined

/** The same, but an integer of 64 bits stays exact. */
export const parseNumber = (text: string): bigint | number | undefined => parseInteger(text) ?? parseReal(text)

/**
 * Returns the bytes of canonical base64 (RFC 4648, section 4), or undefined. They have an ArrayBuffer of their own: Node
 * makes small buffers in a pool of 8 KiB, and structured clone would send the whole pool to another thread.
 */
export const parseBase64 = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) return undefined
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

/** Whether numeric affinity converts the text into a number: https://sqlite.org/datatype3.html#type_affinity */
export const looksNumeric = (text: string) =>
  /^[ \t-\r]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?[ \t-\r]*$/i.test(text)

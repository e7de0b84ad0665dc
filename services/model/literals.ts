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

/** Parses a decimal number of JSON. An integer of 64 bits becomes a `bigint`. Returns undefined for other texts. */
export const parseNumber = (text: string): bigint | number | undefined => parseInteger(text) ?? parseReal(text)

/** Characters of a decimal number that a double may have, such as 5e-324 without an exponent. */
const MAX_EXACT_LENGTH = 400

/** Returns the sign, the digits without zeros around them, and the power of ten of a text that `parseReal` accepts. */
const decimalOf = (text: string) => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [integer = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = (integer + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  const power = Number(exponent) - fraction.length + digits.length - significant.length
  return [text.startsWith('-'), significant, significant === '' ? 0 : power].join()
}

/**
 * Whether a double has the same decimal digits as a text that `parseReal` accepts. False for -0, and with leading zeros,
 * which a number does not keep.
 */
export const isExactReal = (text: string) =>
  text.length <= MAX_EXACT_LENGTH && !/^-?0\d/.test(text) && decimalOf(text) === decimalOf(String(Number(text)))

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

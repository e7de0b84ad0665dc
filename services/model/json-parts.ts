/**
 * Maximum number of keys, objects and arrays of a JSON text, at any depth, unless a route sets another. Each takes V8 the
 * memory of many bytes.
 */
export const MAX_PARTS = 20_000
/** The shortest part is `[]`. Shorter texts need no count. */
const MIN_PART_BYTES = 2

const [QUOTE, BACKSLASH, COLON, BRACKET, BRACE] = [0x22, 0x5c, 0x3a, 0x5b, 0x7b]

/** Bytes that are compared one by one before a native search, which costs as much as these. */
const MAX_BYTES_ONE_BY_ONE = 64

const countBackslashesBefore = (bytes: Buffer, end: number, start: number) => {
  let index = end
  while (index > start && bytes[index - 1] === BACKSLASH) index -= 1
  return end - index
}

/** Returns the index of the quote that ends a string, or the length of the text. `start`: after the first quote. */
const endOfString = (bytes: Buffer, start: number) => {
  let index = start
  while (index < bytes.length) {
    const end = Math.min(index + MAX_BYTES_ONE_BY_ONE, bytes.length)
    for (; index < end; index += 1) {
      if (bytes[index] === QUOTE) return index
      if (bytes[index] === BACKSLASH) index += 1
    }
    const quote = bytes.indexOf(QUOTE, index)
    if (quote === -1) break
    if (countBackslashesBefore(bytes, quote, index) % 2 === 0) return quote
    index = quote + 1
  }
  return bytes.length
}

/** Counts characters of JSON outside strings. */
const countOutsideStrings = (bytes: Buffer, isCounted: (byte: number) => boolean) => {
  let count = 0
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number
    if (byte === QUOTE) index = endOfString(bytes, index + 1)
    else if (isCounted(byte)) count += 1
  }
  return count
}

const isKey = (byte: number) => byte === COLON
const isPart = (byte: number) => isKey(byte) || byte === BRACKET || byte === BRACE

/** Counts the keys of a JSON text, also those that are equal. */
export const countKeysIn = (bytes: Buffer) => countOutsideStrings(bytes, isKey)

export const hasMoreParts = (bytes: Buffer, maxParts: number) =>
  bytes.length > maxParts * MIN_PART_BYTES && countOutsideStrings(bytes, isPart) > maxParts

/** Continues a sentence about the JSON text. */
export const tooManyParts = (maxParts: number) => ({
  code: 'length',
  message: `has more than ${maxParts} keys, objects and arrays`
})

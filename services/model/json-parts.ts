/**
 * Maximum number of keys, objects and arrays of a JSON text, at any depth, unless a route sets another. Each takes V8 the
 * memory of many bytes.
 */
export const MAX_PARTS = 20_000
/** The shortest part is `[]`. Shorter texts need no count. */
const MIN_PART_BYTES = 2

const [QUOTE, BACKSLASH, COLON, BRACKET, BRACE] = [0x22, 0x5c, 0x3a, 0x5b, 0x7b]

/** Counts characters of JSON outside strings. */
const countOutsideStrings = (bytes: Uint8Array, isCounted: (byte: number) => boolean) => {
  let count = 0
  let isString = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number
    if (byte === QUOTE) isString = !isString
    else if (byte === BACKSLASH) index += 1
    else if (!isString && isCounted(byte)) count += 1
  }
  return count
}

const isKey = (byte: number) => byte === COLON
const isPart = (byte: number) => isKey(byte) || byte === BRACKET || byte === BRACE

/** Counts the keys of a JSON text, also those that are equal. */
export const countKeysIn = (bytes: Uint8Array) => countOutsideStrings(bytes, isKey)

export const hasMoreParts = (bytes: Uint8Array, maxParts: number) =>
  bytes.length > maxParts * MIN_PART_BYTES && countOutsideStrings(bytes, isPart) > maxParts

/** Continues a sentence about the JSON text. */
export const tooManyParts = (maxParts: number) => ({
  code: 'length',
  message: `has more than ${maxParts} keys, objects and arrays`
})

/** A value in quotes, or all up to the next comma. */
const PART = /\s*(?:("(?:[^"\\]|\\.)*")|([^,]*?))\s*(?:,|$)/y

const unquote = (quoted: string) => {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** Returns the values of a list such as `5, 7, "Doe, J."`. Values in quotes are JSON strings. */
export const splitList = (text: string): readonly string[] => {
  const parts: string[] = []
  PART.lastIndex = 0
  while (true) {
    const [whole = '', quoted, plain = ''] = PART.exec(text) ?? []
    parts.push(quoted === undefined ? plain : unquote(quoted))
    if (!whole.endsWith(',')) return parts
  }
}

const isPlain = (value: string) => value === value.trim() && !/[",]/.test(value)

/** Returns the text that `splitList` reads as these values. */
export const joinList = (values: readonly string[]) =>
  values.map((value) => (isPlain(value) ? value : JSON.stringify(value))).join(', ')

/** Characters above which results or a response count as large. Smaller ones are not counted. */
export const MIN_COUNTED_CHARACTERS = 64 * 1024

/**
 * Maximum number of characters in large results and responses. A change that would exceed the limit
 * is rolled back, unless it is alone.
 */
export const MAX_UNREAD = 128 * 2 ** 20

/**
 * Counts the characters of large results and responses that are in memory until a client has read them. The event loop
 * and the writer thread share it: only the writer knows, before it commits, how much text a change returns.
 */
export interface UnreadText {
  /** The memory that both threads share. */
  readonly memory: SharedArrayBuffer
  characters(): number
  /** Adds characters that are in memory now, or subtracts those of a negative number. */
  add(characters: number): void
}

export const createUnreadText = (memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)): UnreadText => {
  const total = new BigInt64Array(memory)
  return {
    memory,
    characters: () => Number(Atomics.load(total, 0)),
    add: (characters) => Atomics.add(total, 0, BigInt(characters))
  }
}

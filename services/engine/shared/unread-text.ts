/** Characters above which results or a response count as large. Smaller ones are not counted. */
export const MIN_COUNTED_CHARACTERS = 64 * 1024

/**
 * Maximum number of characters in large results of changes and their responses. A change that would exceed the limit
 * is rolled back, unless it is alone.
 */
export const MAX_UNREAD = 128 * 2 ** 20

/**
 * Counts the characters of large results of changes that are in memory until a client has read them. The event loop
 * and the writer thread share it: only the writer knows, before it commits, how much text a change returns.
 */
export interface UnreadText {
  /** The memory that both threads share. */
  readonly memory: SharedArrayBuffer
  characters(): number
  /** Adds characters that are in memory now, or subtracts those of a negative number. */
  add(characters: number): void
  /** The same for responses of reads, and bytes of parts of exports. They do not limit changes. Only the event loop counts them. */
  addRead(characters: number): void
  /** Returns the characters of changes and reads. */
  all(): number
}

export const createUnreadText = (memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)): UnreadText => {
  const total = new BigInt64Array(memory)
  let reads = 0
  const characters = () => Number(Atomics.load(total, 0))
  return {
    memory,
    characters,
    add: (added) => Atomics.add(total, 0, BigInt(added)),
    addRead: (added) => {
      reads += added
    },
    all: () => characters() + reads
  }
}

/** Bytes. Enough for two chunks of a file. */
const INITIAL_SIZE = 512 * 1024

/**
 * The bytes of a file that have arrived and have not been read. The memory is used again for each chunk: garbage of large
 * buffers is collected late.
 */
export const createUnreadBytes = () => {
  let memory = Buffer.allocUnsafe(INITIAL_SIZE)
  let length = 0

  const grow = (size: number) => {
    if (size <= memory.length) return
    const larger = Buffer.allocUnsafe(2 * size)
    memory.copy(larger, 0, 0, length)
    memory = larger
  }

  return {
    length: () => length,
    /** Returns all bytes, in memory that the next call overwrites. */
    add: (chunk: Uint8Array): Buffer => {
      grow(length + chunk.length)
      memory.set(chunk, length)
      length += chunk.length
      return memory.subarray(0, length)
    },
    /** Removes bytes from the start. */
    drop: (count: number) => {
      memory.copyWithin(0, count, length)
      length -= count
    }
  }
}

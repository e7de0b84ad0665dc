import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Runs the garbage collector of this thread: 10 ms for a small heap. better-sqlite3 frees the memory of a statement only
 * then, and V8 does not know how large it is.
 */
export const collectGarbage = () => {
  if (!collect) {
    // The flag is one for all threads. It stays on: another thread may be between these two lines.
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}

/** Bytes or characters of a value that counts. V8 collects smaller ones in time. */
const MIN_COUNTED_SIZE = 4 * 2 ** 20
const MAX_GARBAGE = 16 * 2 ** 20
/** Clients decide how much garbage there is. */
const MIN_INTERVAL_MS = 200

/**
 * Returns a function that counts the sizes of large values which are no longer used, and runs the garbage collector after
 * each 16 MiB of them, at most five times a second. V8 lets hundreds of MiB of such values wait, because the heap may grow to some GiB.
 */
export const createGarbageCount = (collect = collectGarbage, clock = () => performance.now()) => {
  let garbage = 0
  let last = Number.NEGATIVE_INFINITY
  return (size: number) => {
    if (size < MIN_COUNTED_SIZE) return
    garbage += size
    if (garbage < MAX_GARBAGE || clock() - last < MIN_INTERVAL_MS) return
    garbage = 0
    last = clock()
    collect()
  }
}

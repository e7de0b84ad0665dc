import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Runs the garbage collector of this thread: 10 ms for a small heap. better-sqlite3 frees the memory of a statement only
 * then, and V8 does not know how large it is.
 */
export const collectGarbage = () => {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
    setFlagsFromString('--no-expose-gc')
  }
  collect()
}

/** Bytes or characters of a value that counts. V8 collects smaller ones in time. */
const LARGE_VALUE = 4 * 2 ** 20
const MAX_GARBAGE = 16 * 2 ** 20

/**
 * Returns a function that counts the sizes of large values which are no longer used, and runs the garbage collector after
 * each 16 MiB of them. V8 lets hundreds of MiB of such values wait, because the heap may grow to some GiB.
 */
export const createGarbageCount = (collect = collectGarbage) => {
  let garbage = 0
  return (size: number) => {
    if (size < LARGE_VALUE) return
    garbage += size
    if (garbage < MAX_GARBAGE) return
    garbage = 0
    collect()
  }
}

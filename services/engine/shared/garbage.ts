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

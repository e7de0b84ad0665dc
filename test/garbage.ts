import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Runs the garbage collector now, so that a test can detect whether an object is still referenced. */
export const collectGarbage: () => void = runInNewContext('gc')

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Lets go at once of what nothing keeps, so that a test can see what something does. */
export const collectGarbage: () => void = runInNewContext('gc')

#!/usr/bin/env node
import module from 'node:module'
import { join } from 'node:path'

// The program of the package. It loads the rest of the code only after its check: older versions of Node cannot load it.

/** The oldest version of Node that can run this code: `engines` in package.json. */
const [OLDEST_MAJOR, OLDEST_MINOR] = [22, 14]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR)) {
  // In the folder of the code: a user who can write there can change the code anyway. For others, there is no cache.
  module.enableCompileCache(join(import.meta.dirname, 'compile-cache'))
  await import('./main.ts')
} else {
  process.stderr.write(
    `Rowhouse needs Node.js ${OLDEST_MAJOR}.${OLDEST_MINOR} or newer. This is Node.js ${process.versions.node}.\n`
  )
  process.exitCode = 1
}

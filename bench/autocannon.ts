import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Generator, LoadResult } from './load.ts'
import { nextMessage } from './messages.ts'

const script = fileURLToPath(new URL(`./autocannon-process${extname(import.meta.url)}`, import.meta.url))

export const autocannon: Generator = {
  name: 'autocannon',
  prepare: (requests) => (amount) => {
    const child = fork(script)
    child.send({ ...requests, ...amount })
    return nextMessage<LoadResult>(child, 'The load generator')
  }
}

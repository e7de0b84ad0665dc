import { readlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { basename } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { lowerThreadPriority } from '../../../../services/engine/shared/thread-priority.ts'

t.test('outside of Linux, no priority changes', async (t) => {
  const before = getPriority()
  lowerThreadPriority('darwin')
  t.equal(getPriority(), before)
})

t.test(
  'on Linux, the priority of this thread alone is lower',
  {
    skip: process.platform !== 'linux' && 'only Linux has priorities of threads'
  },
  async (t) => {
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    const file = new URL('../../../../services/engine/shared/thread-priority.js', import.meta.url).href
    const code = `
    const { parentPort } = require('node:worker_threads')
    const { basename } = require('node:path')
    const { readlinkSync } = require('node:fs')
    const { getPriority } = require('node:os')
    import('${file}').then(({ lowerThreadPriority }) => {
      lowerThreadPriority()
      parentPort.postMessage(getPriority(Number(basename(readlinkSync('/proc/thread-self')))))
    })`
    const worker = new Worker(code, { eval: true })
    const priority = await new Promise((resolve) => worker.once('message', resolve))
    t.equal(priority, 10)
    t.equal(getPriority(thread), 0)
  }
)

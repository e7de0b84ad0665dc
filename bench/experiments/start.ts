import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Context, withDirectory } from '../context.ts'
import { below, figureTable, mebibytes, milliseconds } from '../report.ts'
import { medianOf } from '../statistics.ts'

const MOST_SECONDS = 0.5
const MOST_MEMORY_MIB = 120
/** After so long the garbage of the start is gone, or stays. */
const IDLE_MS = 1000

const server = fileURLToPath(new URL('../../../dist/server.js', import.meta.url))

/** Bytes of resident memory, as the operating system counts them. */
const residentMemory = (pid: number) => 1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]))

const startOnce = async (directory: string) => {
  const start = process.hrtime.bigint()
  const child = spawn(process.execPath, [server], {
    env: { ...process.env, DATA_DIR: directory, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  for await (const chunk of child.stdout.setEncoding('utf8')) if (/listens at/.test(chunk)) break
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  await wait(IDLE_MS)
  const memory = residentMemory(child.pid as number)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  return { seconds, memory }
}

/** `node dist/server.js` on an empty directory: until it says that it listens, and what it then keeps. */
export const runStart = async (context: Context) => {
  const samples: { seconds: number; memory: number }[] = []
  while (samples.length < context.plan.starts) samples.push(await withDirectory(context, startOnce))
  const seconds = medianOf(samples, 'seconds')
  const memory = medianOf(samples, 'memory')
  return figureTable([
    { name: 'start, s', value: milliseconds(seconds), target: below(seconds, MOST_SECONDS) },
    { name: 'idle memory, MiB', value: mebibytes(memory), target: below(memory / 2 ** 20, MOST_MEMORY_MIB) }
  ])
}

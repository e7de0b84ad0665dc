import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import t from 'tap'
import { spawnPlain } from '../../plain-process.ts'
import { scaled } from '../../scale.ts'

/** Runs in another process, without tap's coverage. A failure prints the `SEED=… REPLAY=…` that repeats it. */
const MAIN = new URL('./main.js', import.meta.url).pathname

const SEQUENCES = scaled(500)
/** The number that a busy machine reaches within TIME_LIMIT. Without a time limit, all of them. */
const MIN_SEQUENCES = process.env.SCALE === undefined ? SEQUENCES / 5 : SEQUENCES

/** The time limit of `npm run test:process` in milliseconds, including shrinking. Too few sequences show that it was too short. */
const TIME_LIMIT = process.env.SCALE === undefined ? { TIME_LIMIT: '40000' } : {}

t.test('the service responds as the model does to any sequence of requests', async (t) => {
  const env = { ...TIME_LIMIT, SEQUENCES: String(SEQUENCES) }
  const child = spawnPlain(MAIN, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  createInterface(child.stdout as Readable).on('line', (line) => {
    output += `${line}\n`
    t.comment(line)
  })
  const [code] = await once(child, 'close')
  t.equal(code, 0, 'no divergence')
  const sequences = Number(/^(\d+) sequences/m.exec(output)?.[1])
  // A run of `npm run test:process` is too short for rare outcomes.
  if (process.env.SCALE !== undefined) t.match(output, /^Not reached: none$/m)
  t.ok(sequences >= MIN_SEQUENCES, `${sequences} of ${SEQUENCES} sequences`)
})

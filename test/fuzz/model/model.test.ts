import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import t from 'tap'
import { spawnPlain } from '../../plain-process.ts'
import { scaled } from '../../scale.ts'

/**
 * A process of its own, which runs at the full speed: tap would measure its coverage. `SEED=… REPLAY=…`, as a failure prints them, repeat it at once.
 */
const MAIN = new URL('./main.js', import.meta.url).pathname

const SEQUENCES = scaled(500)
/** What even a busy machine reaches in TIME_LIMIT; without a limit of time, all of them. */
const FEWEST = process.env.SCALE === undefined ? SEQUENCES / 5 : SEQUENCES

/** Milliseconds that `npm test` gives it, shrinking included. Where that is too short, the number of sequences says so. */
const TIME_LIMIT = process.env.SCALE === undefined ? { TIME_LIMIT: '40000' } : {}

t.test('whatever is asked in whatever order, the service answers as the model does', async (t) => {
  const env = { ...TIME_LIMIT, SEQUENCES: String(SEQUENCES) }
  const child = spawnPlain(MAIN, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  createInterface(child.stdout as Readable).on('line', (line) => {
    said += `${line}\n`
    t.comment(line)
  })
  const [code] = await once(child, 'close')
  t.equal(code, 0, 'no divergence')
  const sequences = Number(/^(\d+) sequences/m.exec(said)?.[1])
  t.ok(sequences >= FEWEST, `${sequences} of ${SEQUENCES} sequences`)
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { scaled } from '../../scale.ts'
import { plainEnvironment } from '../../service-process.ts'

/**
 * A process of its own: tap loads itself, and source maps, into every thread, and each sequence starts several.
 * `SEED=… REPLAY=…`, as a failure prints them, repeat it at once.
 */
const MAIN = new URL('./main.js', import.meta.url).pathname

/** Milliseconds that `npm test` gives it, shrinking included. Where that is too short, the number of sequences says so. */
const TIME_LIMIT = process.env.SCALE === undefined ? { TIME_LIMIT: '40000' } : {}

t.test('whatever is asked in whatever order, the service answers as the model does', async (t) => {
  const env = { ...plainEnvironment(), ...TIME_LIMIT, SEQUENCES: String(scaled(500)) }
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  createInterface(child.stdout).on('line', (line) => t.comment(line))
  const [code] = await once(child, 'close')
  t.equal(code, 0, 'no divergence')
})

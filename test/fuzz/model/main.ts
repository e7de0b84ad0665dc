import fc from 'fast-check'
import { run, sequence } from './sequence.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

const { SEED, REPLAY, SEQUENCES, TIME_LIMIT, SCALE } = process.env

/** `npm test` is the same for everybody; the longer forms look further each time. */
const chooseSeed = () => (SCALE === undefined ? 20261121 : Date.now() & 0x7fffffff)

const seed = SEED === undefined ? chooseSeed() : Number(SEED)
const numRuns = Number(SEQUENCES)
say(`SEED=${seed}`)

let sequences = 0
let calls = 0
const property = fc.asyncProperty(sequence, async (sequence) => {
  calls += await run(sequence)
  sequences++
})
const details = await fc.check(property, {
  seed,
  numRuns,
  ...(TIME_LIMIT !== undefined && { interruptAfterTimeLimit: Number(TIME_LIMIT) }),
  ...(REPLAY !== undefined && { path: REPLAY })
})
say(`${sequences} sequences, ${calls} calls`)
if (details.failed) {
  say(JSON.stringify(details.counterexample?.[0]) ?? '')
  say(details.errorInstance instanceof Error ? details.errorInstance.message : '')
  say(`To see it again: SEED=${seed} REPLAY=${details.counterexamplePath}`)
  process.exitCode = 1
}

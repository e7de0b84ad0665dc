import fc from 'fast-check'
import { run, sequence } from './sequence.ts'

/** A sequence takes a third of it. What is left, shrinking may use: a long counterexample is better than none. */
const PATIENCE_MS = 2000

const say = (line: string) => process.stdout.write(`${line}\n`)

const { SEED, REPLAY, SEQUENCES } = process.env
const seed = SEED === undefined ? Date.now() & 0x7fffffff : Number(SEED)
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
  interruptAfterTimeLimit: numRuns * PATIENCE_MS,
  markInterruptAsFailure: true,
  ...(REPLAY !== undefined && { path: REPLAY })
})
say(`${sequences} sequences, ${calls} calls`)
if (details.failed) {
  say(JSON.stringify(details.counterexample?.[0]) ?? '')
  say(details.errorInstance instanceof Error ? details.errorInstance.message : 'It took too long.')
  say(`To see it again: SEED=${seed} REPLAY=${details.counterexamplePath}`)
  process.exitCode = 1
}

import fc from 'fast-check'
import { readOutcomes } from './outcomes.ts'
import { run, sequence } from './sequence.ts'

const print = (line: string) => process.stdout.write(`${line}\n`)

const { SEED, REPLAY, SEQUENCES, TIME_LIMIT, SCALE } = process.env

/** `npm run test:process` uses the same seed in each run. The longer runs, with SCALE, use a new one. */
const chooseSeed = () => (SCALE === undefined ? 20261121 : Date.now() & 0x7fffffff)

const seed = SEED === undefined ? chooseSeed() : Number(SEED)
const numRuns = Number(SEQUENCES)
print(`SEED=${seed}`)

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
print(`${sequences} sequences, ${calls} calls`)
const { counts, missing } = readOutcomes()
print(`Outcomes: ${JSON.stringify(counts)}`)
print(`Not reached: ${missing.join(', ') || 'none'}`)
if (details.failed) {
  print(JSON.stringify(details.counterexample?.[0]) ?? '')
  print(details.errorInstance instanceof Error ? details.errorInstance.message : '')
  print(`To repeat it: SEED=${seed} REPLAY=${details.counterexamplePath}`)
  process.exitCode = 1
}

import { Refusal } from './model.ts'

const counts = new Map<string, number>()

const count = (outcome: string) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1)

/** Counts the outcomes of a rule: its status, or the code of its Refusal. */
export const counted =
  <A extends readonly unknown[], T>(name: string, rule: (...args: A) => T) =>
  (...args: A): T => {
    try {
      const result = rule(...args)
      count(`${name}: 200`)
      return result
    } catch (error) {
      if (error instanceof Refusal) count(`${name}: ${error.code ?? error.status}`)
      throw error
    }
  }

/** The outcomes that any run of some length must reach. */
const EXPECTED = [
  ...['read: 200', 'read: 304', 'read: RECORD_NOT_FOUND'],
  ...['update', 'delete', 'increment'].flatMap((name) =>
    ['200', 'PRECONDITION_FAILED', 'RECORD_NOT_FOUND'].map((outcome) => `${name}: ${outcome}`)
  ),
  ...['CSV', 'NDJSON'].flatMap((format) =>
    ['insert: 200', 'insert: IMPORT_FAILED', 'upsert: 200', 'upsert: IMPORT_FAILED', 'insert, dry run: 200'].map(
      (outcome) => `import of ${format}, ${outcome}`
    )
  )
]

/** Returns the number of each outcome, and those that were not reached. */
export const readOutcomes = () => ({
  counts: Object.fromEntries([...counts].sort()),
  missing: EXPECTED.filter((outcome) => !counts.has(outcome))
})

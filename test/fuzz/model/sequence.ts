import fc from 'fast-check'
import { accountCommands } from './commands/accounts.ts'
import { aggregateCommands } from './commands/aggregates.ts'
import { batchCommands } from './commands/batches.ts'
import { compareAll, externalEvents } from './commands/external-events.ts'
import { importCommands } from './commands/imports.ts'
import { indexCommands } from './commands/indexes.ts'
import { queryCommands } from './commands/queries.ts'
import { recordCommands } from './commands/records.ts'
import { tableCommands, validTable } from './commands/tables.ts'
import { tagCommands } from './commands/tags.ts'
import { tokenCommands } from './commands/tokens.ts'
import { upsertCommands } from './commands/upserts.ts'
import { viewCommands } from './commands/views.ts'
import { type Command, createHarness, type Harness, type Settings } from './harness.ts'

const commands = {
  ...accountCommands,
  ...tokenCommands,
  ...tableCommands,
  ...indexCommands,
  ...recordCommands,
  ...upsertCommands,
  ...batchCommands,
  ...tagCommands,
  ...importCommands,
  ...queryCommands,
  ...aggregateCommands,
  ...externalEvents
}
/** Statements on views run in a process that takes a third of a second to start, so few sequences have views. */
const allCommands = { ...commands, ...viewCommands }
type Name = keyof typeof allCommands

/** One command of a sequence, in the form that a failure prints. */
export interface Step {
  readonly name: Name
  readonly input: unknown
}

const commandOf = (name: Name) => allCommands[name] as Command<unknown>

const MAX_STEPS = 100

const stepOf = (name: Name) => fc.record<Step>({ name: fc.constant(name), input: commandOf(name).input })

const stepsOf = (names: object) => {
  const steps = (Object.keys(names) as Name[]).map((name) => ({
    weight: commandOf(name).weight,
    arbitrary: stepOf(name)
  }))
  return fc.array(fc.oneof(...steps), { minLength: 1, maxLength: MAX_STEPS, size: 'max' })
}

const first = [
  fc.record<Step>({ name: fc.constant('createTable'), input: validTable }),
  stepOf('fillTable'),
  stepOf('createTable')
]
const firstWithViews = [...first, stepOf('createView'), stepOf('importView')]

const settings = fc.record<Settings>({ requirePasswordChange: fc.boolean() })

/** Without fast-check's bias, which would make the first sequences short. The arbitraries contain the edge cases. */
export const sequence = fc.noBias(
  fc.oneof(
    {
      weight: 11,
      arbitrary: fc.record({ settings, first: fc.tuple(...first), steps: stepsOf(commands) })
    },
    { weight: 1, arbitrary: fc.record({ settings, first: fc.tuple(...firstWithViews), steps: stepsOf(allCommands) }) }
  )
)
type Sequence = typeof sequence extends fc.Arbitrary<infer T> ? T : never

const SHOWN_CALLS = 25

const withTrace = (error: unknown, { trace }: Harness) => {
  const calls = trace.slice(-SHOWN_CALLS).join('\n')
  return new Error(`${error instanceof Error ? error.message : String(error)}\nThe last calls:\n${calls}`, {
    cause: error
  })
}

/**
 * Runs a sequence on a fresh service, and resolves with the number of calls.
 *
 * @throws with the last calls, if service and model differ
 */
export const run = async ({ settings, first, steps }: Sequence): Promise<number> => {
  const harness = await createHarness(settings)
  try {
    for (const { name, input } of [...first, ...steps]) await commandOf(name).run(harness, input)
    await compareAll(harness)
    return harness.trace.length
  } catch (error) {
    throw withTrace(error, harness)
  } finally {
    await harness.service.stop()
  }
}

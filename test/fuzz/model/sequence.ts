import fc from 'fast-check'
import { accountCommands } from './commands/accounts.ts'
import { recordCommands } from './commands/records.ts'
import { compareAll, surroundingCommands } from './commands/surroundings.ts'
import { tableCommands } from './commands/tables.ts'
import { tokenCommands } from './commands/tokens.ts'
import { type Command, createWorld, type Settings, type World } from './world.ts'

const commands = { ...accountCommands, ...tokenCommands, ...tableCommands, ...recordCommands, ...surroundingCommands }
type Name = keyof typeof commands

/** One command of a sequence, as it is printed and replayed. */
export interface Step {
  readonly do: Name
  readonly with: unknown
}

const commandOf = (name: Name) => commands[name] as Command<unknown>

const step = fc.oneof(
  ...(Object.keys(commands) as Name[]).map((name) => ({
    weight: commandOf(name).weight,
    arbitrary: fc.record<Step>({ do: fc.constant(name), with: commandOf(name).choices })
  }))
)

const LONGEST = 100

const firstTable = fc.record<Step>({
  do: fc.constant('createTable'),
  with: commands.createTable.choices
})

/** Without a bias, which would make the first sequences short: edge cases are among the choices by name. */
export const sequence = fc.noBias(
  fc.record({
    settings: fc.record<Settings>({ requirePasswordChange: fc.boolean() }),
    first: fc.array(firstTable, { minLength: 1, maxLength: 2 }),
    steps: fc.array(step, { minLength: 1, maxLength: LONGEST, size: 'max' })
  })
)
type Sequence = typeof sequence extends fc.Arbitrary<infer T> ? T : never

const SHOWN_CALLS = 25

const withTrace = (error: unknown, { trace }: World) => {
  const calls = trace.slice(-SHOWN_CALLS).join('\n')
  return new Error(`${error instanceof Error ? error.message : String(error)}\nThe last calls:\n${calls}`, {
    cause: error
  })
}

/** Runs a sequence against a fresh service. @throws where service and model differ; resolves with the number of calls */
export const run = async ({ settings, first, steps }: Sequence): Promise<number> => {
  const world = await createWorld(settings)
  try {
    for (const { do: name, with: choices } of [...first, ...steps]) await commandOf(name).run(world, choices)
    await compareAll(world)
    return world.trace.length
  } catch (error) {
    throw withTrace(error, world)
  } finally {
    await world.service.stop()
  }
}

import type { Command } from 'commander'
import type { ServiceOptions } from '../connect.ts'
import type { Terminal } from '../terminal.ts'

/** The options of all commands that need the service. */
export interface CommonOptions extends ServiceOptions {
  readonly json?: boolean
}

/** Adds a command with the options of all commands that need the service, and with an example in its help. */
export const addCommand = (program: Command, usage: string, description: string, example: string) =>
  program
    .command(usage)
    .description(description)
    .option('--data-dir <dir>', 'DATA_DIR of the service')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  rowhouse ${example}`)

/** Adds `--database` to a command that takes no file as an argument. */
export const withDatabase = (command: Command) => command.option('--database <file>', 'DATABASE of the service')

/** Makes a command fail before it begins if the settings name a cluster. `instead`: what to do. */
export const onlyForFile = (command: Command, { env }: Terminal, instead: string) =>
  command.hook('preAction', () => {
    if (env.RQLITE_URLS === undefined) return
    throw new Error(`rowhouse ${command.name()} is for a file, and RQLITE_URLS names a cluster. ${instead}`)
  })

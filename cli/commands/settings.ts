import type { Command } from 'commander'
import type { DescribedSettings } from '../../schemas/settings.ts'
import { configOf, withService } from '../connect.ts'
import type { LocalClient } from '../local-client.ts'
import { columns, createPrinter, UsageError, withHeading } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, withDatabase } from './options.ts'

const PATH = '/admin/settings'
const HEADING = ['SETTING', 'VALUE', 'SOURCE', 'VARIABLE']

const read = async (client: LocalClient) => (await client.call('GET', PATH)) as DescribedSettings

const update = async (client: LocalClient, changes: object) =>
  (await client.call('PUT', PATH, changes)) as DescribedSettings

/** Returns the parts of a text such as logLevel=info. @throws a UsageError if it has another form */
const splitChange = (text: string) => {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new UsageError(`Write a change as NAME=VALUE, not '${text}'.`)
  return { name, value }
}

/** Returns the names of the settings whose values are numbers. */
const numericNames = (settings: DescribedSettings) =>
  Object.entries(settings).flatMap(([name, { value }]) => (typeof value === 'number' ? [name] : []))

/** Other texts are sent unchanged: the error of the service names the rule. */
const isInteger = (text: string) => /^-?\d{1,15}$/.test(text)

/** Runs a function with the service, and prints the settings that it returns. */
const printSettings = async (
  terminal: Terminal,
  options: CommonOptions,
  use: (client: LocalClient) => Promise<DescribedSettings>
) => {
  const settings = await withService(configOf(terminal, options), use)
  const rows = Object.entries(settings).map(([name, { value, source, variable }]) => [name, value, source, variable])
  createPrinter(terminal, options)(settings, withHeading(terminal, columns(HEADING, rows)))
}

const list = (terminal: Terminal) => (options: CommonOptions) => printSettings(terminal, options, read)

const set = (terminal: Terminal) => (texts: readonly string[], options: CommonOptions) => {
  const changes = texts.map(splitChange)
  return printSettings(terminal, options, async (client) => {
    const numeric = numericNames(await read(client))
    const values = changes.map(({ name, value }) => [
      name,
      numeric.includes(name) && isInteger(value) ? Number(value) : value
    ])
    return update(client, Object.fromEntries(values))
  })
}

const reset = (terminal: Terminal) => (names: readonly string[], options: CommonOptions) =>
  printSettings(terminal, options, (client) => update(client, Object.fromEntries(names.map((name) => [name, null]))))

export const addSettingCommands = (program: Command, terminal: Terminal) => {
  const settings = program.command('settings').description('list and change settings without a restart')
  withDatabase(
    addCommand(settings, 'list', 'list the settings, and where each value comes from', 'settings list')
  ).action(list(terminal))
  const example = 'settings set logLevel=debug maxPageSize=500'
  withDatabase(addCommand(settings, 'set', 'store values, which apply at once and after a restart', example))
    .argument('<NAME=VALUE...>', 'settings with their new values')
    .action(set(terminal))
  withDatabase(addCommand(settings, 'reset', 'remove stored values', 'settings reset logLevel'))
    .argument('<NAME...>', 'names of settings')
    .action(reset(terminal))
}

import type { Command } from 'commander'
import { settingOptions } from '../../config.ts'
import type { Terminal } from '../terminal.ts'

const HELP = `
Each option is the setting of the same name: --data-dir is DATA_DIR. docs/guides/configure.md explains them.
ADMIN_PASSWORD, JWT_SECRET, METRICS_TOKEN and RQLITE_PASSWORD can only be variables: other users of a machine can read the arguments
of a process.

Without --data-dir, the other files of Rowhouse are in the directory FILE-rowhouse.

With --rqlite-urls, Rowhouse serves a cluster of rqlite nodes instead of a file: docs/guides/cluster.md.

Example:
  rowhouse serve shop.sqlite --port 8080 --adopt`

const optionOf = (setting: string) => `--${setting.toLowerCase().replaceAll('_', '-')}`

/** Returns the name that commander gives an option: dataDir for DATA_DIR. */
const keyOf = (setting: string) =>
  setting.toLowerCase().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

type Values = Readonly<Record<string, string | boolean | undefined>>

const settingsOf = (values: Values) =>
  Object.fromEntries(
    settingOptions().flatMap(({ name }) => {
      const value = values[keyOf(name)]
      return value === undefined ? [] : [[name, String(value)]]
    })
  )

export const addServeCommand = (program: Command, { env }: Terminal) => {
  const command = program
    .command('serve')
    .description('serve a SQLite file, the database in DATA_DIR, or a cluster')
    .argument('[FILE]', 'a SQLite file; the same as --database')
    .option('--adopt', 'publish all tables and views of the file that are not registered')
    .addHelpText('after', HELP)
  for (const { name, isSwitch, fallback } of settingOptions()) {
    const flags = isSwitch ? optionOf(name) : `${optionOf(name)} <value>`
    command.option(flags, fallback === undefined ? name : `${name}, by default ${fallback}`)
  }
  command.action(async (file: string | undefined, { adopt = false, ...values }: Values) => {
    const settings = { ...env, ...settingsOf(values), ...(file !== undefined && { DATABASE: file }) }
    const { serve } = await import('../../server.ts')
    await serve(settings, { adopts: adopt === true })
  })
}

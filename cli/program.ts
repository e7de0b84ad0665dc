import { Command } from 'commander'
import { API_VERSION } from '../services/model/version.ts'
import { addAdminCommands } from './commands/admins.ts'
import { addBackupCommands } from './commands/backup.ts'
import { addCheckCommand } from './commands/check.ts'
import { addExportCommand } from './commands/export.ts'
import { addImportCommand } from './commands/import.ts'
import { addServeCommand } from './commands/serve.ts'
import { addServiceCommands } from './commands/service.ts'
import { addSettingCommands } from './commands/settings.ts'
import { addTokenCommands } from './commands/tokens.ts'
import { addUpgradeCommand } from './commands/upgrade.ts'
import type { Terminal } from './terminal.ts'

const HELP = `
Settings are read from environment variables and from the file .env: docs/guides/configure.md.
Exit codes: 0 done, 1 failed, 2 wrong usage.

Example:
  rowhouse serve shop.sqlite`

const COMMANDS = [
  addServeCommand,
  addBackupCommands,
  addCheckCommand,
  addUpgradeCommand,
  addImportCommand,
  addExportCommand,
  addTokenCommands,
  addAdminCommands,
  addSettingCommands,
  addServiceCommands
]

/** Declares all commands. `isJson`: the caller of the program prints wrong usage. */
export const createProgram = (terminal: Terminal, { isJson }: { readonly isJson: boolean }) => {
  const program = new Command('rowhouse')
    .description('Put your SQLite tables behind an API, and hand out keys.')
    .version(API_VERSION, '--version', 'print the version of Rowhouse')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => {
        if (!isJson) terminal.stderr.write(text)
      }
    })
  for (const add of COMMANDS) add(program, terminal)
  return program
}

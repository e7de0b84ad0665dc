import type { Command } from 'commander'
import type { Config } from '../../config.ts'
import { describeUpgrade } from '../../services/backups/before-upgrade.ts'
import { tryUpgrade } from '../../services/engine/reader/file-report.ts'
import { buildCommandApp, configOf } from '../connect.ts'
import { assertReadable } from '../files.ts'
import { createPrinter } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { upgradeText } from '../upgrade-text.ts'
import { addCommand, type CommonOptions, onlyForFile } from './options.ts'

interface UpgradeOptions extends CommonOptions {
  readonly dryRun?: true
}

const TRIED = 'This was tried on a copy of the tables of Rowhouse in memory.'

/** Starts and ends a service that listens nowhere. Returns what its start has migrated; null without a migration. */
const startOnce = async (config: Config) => {
  const app = await buildCommandApp(config)
  await app.close()
  return app.upgrade
}

const upgrade = (terminal: Terminal) => async (file: string, options: UpgradeOptions) => {
  const print = createPrinter(terminal, options)
  assertReadable(file)
  const report = tryUpgrade(file)
  const state = upgradeText(report)
  if (options.dryRun || report.version === 0)
    return print(report, report.upgrade.length === 0 ? [state] : [state, TRIED])
  const done = await startOnce(configOf(terminal, { ...options, database: file }))
  return print({ ...report, backup: done?.backup ?? null }, [done ? describeUpgrade(done) : state])
}

export const addUpgradeCommand = (program: Command, terminal: Terminal) => {
  const description = 'make a backup of a file of an older version, and upgrade the tables of Rowhouse in it'
  const instead = 'The start of a service upgrades a cluster: make a backup with rqlite, then run rowhouse serve.'
  onlyForFile(addCommand(program, 'upgrade', description, 'upgrade shop.sqlite --dry-run'), terminal, instead)
    .argument('<FILE>', 'the SQLite file')
    .option('--dry-run', 'only show the changes, and try them on a copy of the tables of Rowhouse in memory')
    .action(upgrade(terminal))
}

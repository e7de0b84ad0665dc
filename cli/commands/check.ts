import type { Command } from 'commander'
import type { Config } from '../../config.ts'
import type { Table } from '../../schemas/table.ts'
import { type FileReport, reportFile } from '../../services/engine/reader/file-report.ts'
import { configOf, withService } from '../connect.ts'
import { assertReadable } from '../files.ts'
import type { LocalClient } from '../local-client.ts'
import { createPrinter, createStyles, printable } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { upgradeText } from '../upgrade-text.ts'
import { addCommand, type CommonOptions, onlyForFile } from './options.ts'

interface Report extends FileReport {
  /** Registered tables that cannot be served; null if the file is damaged, or needs an upgrade first. */
  readonly unusable: readonly UnusableTable[] | null
}

interface UnusableTable {
  readonly name: string
  readonly reason: string
}

/** Returns why a record of the table cannot be read; null if one can, or if the table is empty. */
const problemOf = (client: LocalClient, { id }: Table): Promise<string | null> =>
  client.call('POST', `/admin/tables/${id}/query`, { size: 1 }).then(
    () => null,
    (error: Error) => error.message
  )

const findUnusable = (config: Config) =>
  withService(config, async (client) => {
    const unusable: UnusableTable[] = []
    for (const table of (await client.call('GET', '/admin/tables')) as Table[]) {
      const reason = await problemOf(client, table)
      if (reason !== null) unusable.push({ name: table.name, reason })
    }
    return unusable
  })

const problemsOf = ({ damage, foreignKeys, broken, unusable }: Report) => [
  ...(damage === null ? [] : [`The file is damaged: ${damage}`]),
  ...foreignKeys.map(({ table, rows }) => `${rows} rows of '${table}' have a foreign key that refers to no row.`),
  ...broken.map(({ type, name, reason }) => `The ${type} '${name}' does not compile: ${reason}.`),
  ...(unusable ?? []).map(({ name, reason }) => `The registered table '${name}' cannot be served: ${reason}`)
]

const check = (terminal: Terminal) => async (file: string, options: CommonOptions) => {
  assertReadable(file)
  const found = reportFile(file)
  const isServable = found.damage === null && found.version === found.latestVersion
  const unusable = isServable ? await findUnusable(configOf(terminal, { ...options, database: file })) : null
  const report = { ...found, unusable }
  const problems = problemsOf(report)
  const good = createStyles(terminal).onOutput('green', 'No problems.')
  const lines = [...(problems.length === 0 ? [good] : problems.map(printable)), printable(upgradeText(report))]
  createPrinter(terminal, options)(report, lines)
  if (problems.length > 0) throw new Error(`The check has found ${problems.length} problems.`)
}

export const addCheckCommand = (program: Command, terminal: Terminal) => {
  const description = 'check a file: integrity, foreign keys, views, triggers, registered tables, upgrade'
  const instead = 'Unset it to check a file. rqlite checks its own files.'
  onlyForFile(addCommand(program, 'check', description, 'check shop.sqlite'), terminal, instead)
    .argument('<FILE>', 'the SQLite file')
    .action(check(terminal))
}

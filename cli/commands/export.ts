import { createWriteStream, existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { databaseOf } from '../../config.ts'
import { configOf, withService } from '../connect.ts'
import { createProgress } from '../progress.ts'
import { findTable } from '../tables.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, onlyForFile } from './options.ts'

interface ExportOptions extends CommonOptions {
  readonly format?: string
  readonly output?: string
  readonly query: string
}

/** @throws an Error if the output is the database */
const assertOther = (output: string, database: string) => {
  if (!existsSync(output) || realpathSync(output) !== database) return
  throw new Error(`${output} is the database. Choose another file for --output.`)
}

type WriteTo = (target: Writable, end: boolean) => Promise<void>

/** Writes a new file first, so that an interruption leaves the previous one as it is. */
const writeFile = async (output: string, write: WriteTo) => {
  const partial = `${output}.partial`
  try {
    await write(createWriteStream(partial), true)
    renameSync(partial, output)
  } finally {
    rmSync(partial, { force: true })
  }
}

const formatOf = ({ format, output = '' }: ExportOptions) =>
  format ?? (/\.(?:ndjson|jsonl)$/i.test(output) ? 'ndjson' : 'csv')

const exportRecords = (terminal: Terminal) => async (database: string, name: string, options: ExportOptions) => {
  const { output, query: text } = options
  const query = new URLSearchParams(text)
  query.set('format', formatOf(options))
  const config = configOf(terminal, { ...options, database })
  if (output !== undefined) assertOther(output, databaseOf(config))
  await withService(config, async (client) => {
    const { id } = await findTable(client, name)
    const content: Readable = await client.download(`/admin/tables/${id}/export?${query}`)
    const progress = createProgress(terminal, null)
    const write: WriteTo = (target, end) => pipeline(content, progress.stream, target, { end }).finally(progress.stop)
    await (output === undefined ? write(terminal.stdout, false) : writeFile(output, write))
  })
}

export const addExportCommand = (program: Command, terminal: Terminal) => {
  const example = 'export shop.sqlite products --output products.csv'
  const instead = 'Use GET /admin/tables/:id/export of a service.'
  onlyForFile(addCommand(program, 'export', 'export the records of a table', example), terminal, instead)
    .argument('<FILE>', 'the SQLite file')
    .argument('<TABLE>', 'the name of the table')
    .option('--format <name>', 'csv or ndjson; by default from the ending of the output, or csv')
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--query <text>', 'parameters of a list, such as "q=pen&order=-price"', '')
    .action(exportRecords(terminal))
}

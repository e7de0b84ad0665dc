import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { configOf, withService } from '../connect.ts'
import { createProgress } from '../progress.ts'
import { findTable } from '../tables.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions } from './options.ts'

interface ExportOptions extends CommonOptions {
  readonly format: string
  readonly output?: string
  readonly query: string
}

const exportRecords = (terminal: Terminal) => async (database: string, name: string, options: ExportOptions) => {
  const { format, output, query: text } = options
  const query = new URLSearchParams(text)
  query.set('format', format)
  await withService(configOf(terminal, { ...options, database }), async (client) => {
    const { id } = await findTable(client, name)
    const content = await client.download(`/admin/tables/${id}/export?${query}`)
    const progress = createProgress(terminal, null)
    const target = output === undefined ? terminal.stdout : createWriteStream(output)
    await pipeline(content, progress.stream, target, { end: output !== undefined }).finally(progress.stop)
  })
}

export const addExportCommand = (program: Command, terminal: Terminal) => {
  const example = 'export shop.sqlite products --output products.csv'
  addCommand(program, 'export', 'export the records of a table', example)
    .argument('<FILE>', 'the SQLite file')
    .argument('<TABLE>', 'the name of the table')
    .option('--format <name>', 'csv or ndjson', 'csv')
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--query <text>', 'parameters of a list, such as "q=pen&order=-price"', '')
    .action(exportRecords(terminal))
}

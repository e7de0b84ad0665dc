import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { ImportResult } from '../../schemas/import.ts'
import { configOf, withService } from '../connect.ts'
import { missingFile } from '../files.ts'
import type { LocalClient } from '../local-client.ts'
import { createPrinter, UsageError } from '../output.ts'
import { createProgress } from '../progress.ts'
import { findTable } from '../tables.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, onlyForFile } from './options.ts'

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/json'
}

/** The name of standard input. */
const STDIN = '-'

interface ImportOptions extends CommonOptions {
  readonly format?: string
  readonly create?: true
  /** The fields of the option, or true without them. */
  readonly upsert?: string | true
  readonly atomic?: true
  readonly dryRun?: true
}

/** Returns the content type. @throws an Error if neither the option nor the ending of the file is a format */
const typeOf = (file: string, { format }: ImportOptions) => {
  const type = TYPES[format ?? file.slice(file.lastIndexOf('.') + 1).toLowerCase()]
  if (type !== undefined) return type
  throw new UsageError(`The format of '${file}' is unknown. Choose it with --format csv, ndjson or json.`)
}

const queryOf = ({ upsert, atomic, dryRun }: ImportOptions, file: string) =>
  new URLSearchParams({
    ...(file !== STDIN && { file }),
    ...(upsert !== undefined && { mode: 'upsert' }),
    ...(typeof upsert === 'string' && { on: upsert }),
    ...(atomic && { atomic: 'true' }),
    ...(dryRun && { dryRun: 'true' })
  })

const pathOf = async (client: LocalClient, table: string, { create }: ImportOptions, query: URLSearchParams) => {
  if (!create) return `/admin/tables/${(await findTable(client, table)).id}/import?${query}`
  query.set('name', table)
  return `/admin/tables/from-file?${query}`
}

interface Source {
  readonly content: Readable
  /** Bytes; null if it is not known. */
  readonly size: number | null
}

const sourceOf = ({ stdin }: Terminal, file: string): Source => {
  if (file === STDIN) return { content: stdin, size: null }
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw missingFile(file)
  return { size: stats.size, content: createReadStream(file) }
}

/** A table from a file has no `updated`. */
type Imported = Pick<ImportResult, 'created' | 'dryRun'> & Partial<Pick<ImportResult, 'updated'>>

const sentenceOf = ({ created, updated = 0, dryRun }: Imported) =>
  `${created} created, ${updated} changed.${dryRun ? ' This was a dry run: nothing was stored.' : ''}`

const importRecords =
  (terminal: Terminal) => async (database: string, table: string, file: string, options: ImportOptions) => {
    const type = typeOf(file, options)
    const { content, size } = sourceOf(terminal, file)
    const progress = createProgress(terminal, size)
    const sent = progress.stream
    pipeline(content, sent).catch(() => {})
    const imported = (await withService(configOf(terminal, { ...options, database }), async (client) =>
      client.upload(await pathOf(client, table, options, queryOf(options, file)), { type, content: sent })
    ).finally(() => {
      content.destroy()
      progress.stop()
    })) as Imported
    createPrinter(terminal, options)(imported, [sentenceOf(imported)])
  }

export const addImportCommand = (program: Command, terminal: Terminal) => {
  const example = 'import shop.sqlite products products.csv'
  const description = 'import records of a CSV, NDJSON or JSON file into a table'
  const instead = 'Use POST /admin/tables/:id/import of a service.'
  onlyForFile(addCommand(program, 'import', description, example), terminal, instead)
    .argument('<FILE>', 'the SQLite file')
    .argument('<TABLE>', 'the name of the table')
    .argument('<DATA>', `the file with the records; ${STDIN} for standard input`)
    .option('--format <name>', 'csv, ndjson or json; by default from the ending of DATA')
    .option('--create', 'create the table from the file')
    .option(
      '--upsert [fields]',
      'change records with the same key, or with the same values of these fields: write it after DATA'
    )
    .option('--atomic', 'import all records or none, also after a crash')
    .option('--dry-run', 'only check the file')
    .action(importRecords(terminal))
}

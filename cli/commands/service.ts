import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { sqliteVersion } from '../../services/engine/sqlite-version.ts'
import { API_VERSION } from '../../services/model/version.ts'
import { configOf, connectToRunning, withService } from '../connect.ts'
import { createPrinter, createStyles, properties } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, withDatabase } from './options.ts'

interface HealthOptions extends CommonOptions {
  readonly ready?: true
}

const checkHealth = (terminal: Terminal) => async (options: HealthOptions) => {
  const client = await connectToRunning(configOf(terminal, options))
  const health = (await client.call('GET', options.ready ? '/health/ready' : '/health')) as { status: string }
  createPrinter(terminal, options)(health, [createStyles(terminal).onOutput('green', health.status)])
}

interface DocumentOptions extends CommonOptions {
  readonly openapi?: string
}

const printDocument = (terminal: Terminal) => async (options: DocumentOptions) => {
  const path = `/admin/openapi.json?openapi=${encodeURIComponent(options.openapi ?? '3.1')}`
  const document = await withService(configOf(terminal, options), async (client) => text(await client.download(path)))
  terminal.stdout.write(`${JSON.stringify(JSON.parse(document), null, 2)}\n`)
}

const versions = () => ({
  rowhouse: API_VERSION,
  node: process.versions.node,
  sqlite: sqliteVersion()
})

const printVersion = (terminal: Terminal) => async (options: CommonOptions) => {
  const known = versions()
  createPrinter(terminal, options)(known, properties(known))
}

export const addServiceCommands = (program: Command, terminal: Terminal) => {
  withDatabase(addCommand(program, 'health', 'check that the service on this machine responds', 'health --ready'))
    .option('--ready', 'also check that it can read and write')
    .action(checkHealth(terminal))
  withDatabase(addCommand(program, 'openapi', 'print the OpenAPI document of the tables', 'openapi > shop.json'))
    .option('--openapi <version>', '3.1 or 3.0')
    .action(printDocument(terminal))
  program
    .command('version')
    .description('print the versions of Rowhouse, Node.js and SQLite')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  rowhouse version')
    .action(printVersion(terminal))
}

import { createReadStream, statSync } from 'node:fs'
import type { Command } from 'commander'
import { BACKUP_TYPE, type Backup, type BackupList, type RestoreResult } from '../../schemas/backup.ts'
import { parseName } from '../../services/backups/names.ts'
import { configOf, withService } from '../connect.ts'
import { isReadable } from '../files.ts'
import type { LocalClient } from '../local-client.ts'
import { createPrinter, UsageError } from '../output.ts'
import { createProgress, showWhile } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, onlyForFile, withDatabase } from './options.ts'

/** Makes or restores a backup, and shows the progress on a terminal. */
const callWithProgress = (terminal: Terminal, client: LocalClient, path: string) => {
  const readProgress = async () => {
    const { running } = (await client.call('GET', '/admin/backups')) as BackupList
    const { copiedBytes, totalBytes } = { copiedBytes: 0, totalBytes: 0, ...running }
    return { value: copiedBytes, total: totalBytes }
  }
  return showWhile(terminal, client.call('POST', path), readProgress)
}

const makeBackup = (terminal: Terminal) => async (options: CommonOptions) => {
  const backup = (await withService(configOf(terminal, options), (client) =>
    callWithProgress(terminal, client, '/admin/backups')
  )) as Backup
  createPrinter(terminal, options)(backup, [backup.name])
}

/** @throws an Error: the last changes would be missing in the restored database */
const assertNoWal = (file: string) => {
  if (!isReadable(`${file}-wal`) || statSync(`${file}-wal`).size === 0) return
  throw new Error(`${file} is in use: its last changes are in ${file}-wal. Make a copy with rowhouse backup.`)
}

/** Returns the name of the uploaded backup. */
const upload = async (terminal: Terminal, client: LocalClient, file: string) => {
  assertNoWal(file)
  const progress = createProgress(terminal, statSync(file).size)
  const content = createReadStream(file).on('error', (error) => progress.stream.destroy(error))
  try {
    const sent = client.upload('/admin/backups/upload', { type: BACKUP_TYPE, content: content.pipe(progress.stream) })
    return ((await sent) as Backup).name
  } finally {
    content.destroy()
    progress.stop()
  }
}

interface RestoreOptions extends CommonOptions {
  readonly includeAccess?: true
}

const ACCESS_CLOSED =
  'All sessions have ended, and all tokens are off. Switch on those that you need: in the console, or with PUT /admin/tokens/:id.'

/** @throws a UsageError: the service could only say that the name has a wrong form */
const assertBackup = (backup: string) => {
  if (isReadable(backup) || parseName(backup) !== null) return
  throw new UsageError(`There is no file ${backup}, and it is not the name of a backup.`)
}

const restoreBackup = (terminal: Terminal) => async (backup: string, options: RestoreOptions) => {
  assertBackup(backup)
  const restore = async (client: LocalClient) => {
    const name = isReadable(backup) ? await upload(terminal, client, backup) : backup
    const query = options.includeAccess ? '?include=access' : ''
    return callWithProgress(terminal, client, `/admin/backups/${encodeURIComponent(name)}/restore${query}`)
  }
  const restored = (await withService(configOf(terminal, options), restore)) as RestoreResult
  const lines = [`Restored. The state before is in ${restored.before.name}.`]
  if (options.includeAccess) lines.push(ACCESS_CLOSED)
  createPrinter(terminal, options)(restored, lines)
}

const INSTEAD = 'Use the backups of rqlite: docs/guides/cluster.md.'

export const addBackupCommands = (program: Command, terminal: Terminal) => {
  const add = (name: string, description: string, example: string) =>
    onlyForFile(withDatabase(addCommand(program, name, description, example)), terminal, INSTEAD)
  add('backup', 'make a backup in BACKUP_DIR, and print its name', 'backup').action(makeBackup(terminal))
  const example = 'restore 2026-11-26T03-00-00Z-scheduled.db'
  add('restore', 'replace all tables by those of a backup; the state before is backed up', example)
    .argument('<BACKUP>', 'the name of a backup, or the path of a file that was downloaded')
    .option(
      '--include-access',
      'also take its administrators, tokens and roles; ends all sessions, switches all tokens off, deletes all admin keys'
    )
    .action(restoreBackup(terminal))
}

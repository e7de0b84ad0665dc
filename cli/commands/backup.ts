import type { Command } from 'commander'
import type { Backup } from '../../schemas/backup.ts'
import { configOf, withService } from '../connect.ts'
import { createPrinter } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, withDatabase } from './options.ts'

const makeBackup = (terminal: Terminal) => async (options: CommonOptions) => {
  const backup = (await withService(configOf(terminal, options), (client) =>
    client.call('POST', '/admin/backups')
  )) as Backup
  createPrinter(terminal, options)(backup, [backup.name])
}

export const addBackupCommand = (program: Command, terminal: Terminal) => {
  withDatabase(addCommand(program, 'backup', 'make a backup in BACKUP_DIR, and print its name', 'backup')).action(
    makeBackup(terminal)
  )
}

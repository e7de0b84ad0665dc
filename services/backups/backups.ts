import { open } from 'node:fs/promises'
import type { Backup, BackupKind, BackupList, RunningBackup } from '../../schemas/backup.ts'
import type { BodyChunks } from '../../schemas/import.ts'
import { type AuditEntry, auditRow } from '../audit/audit-row.ts'
import type { AuditRead } from '../audit/read-audit.ts'
import type { Database } from '../engine/database.ts'
import { type Caller, serviceCaller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import type { BackupDirectory } from './directory.ts'
import { backupRunning } from './failures.ts'
import { expiredOf, type KeepRule } from './keep.ts'

interface BackupServiceOptions {
  readonly db: Pick<Database, 'backups' | 'fileSizes' | 'write'>
  readonly clock: Clock
  readonly directory: BackupDirectory
  readonly keep: readonly KeepRule[]
  readonly auditRead: AuditRead
}

/** The last backup that has ended. `at`: epoch milliseconds. */
export interface LastBackup {
  readonly at: number
  readonly bytes: number
  readonly ok: boolean
}

/** Returns the newest backup of the directory, as the last one before the start. */
const newestOf = (directory: BackupDirectory): LastBackup | null => {
  const newest = directory.list().find(({ kind }) => kind !== 'upload')
  return newest ? { at: newest.createdAt, bytes: newest.bytes, ok: true } : null
}

/** Makes, lists and deletes backups, one at a time. */
export const createBackupService = ({ db, clock, directory, keep, auditRead }: BackupServiceOptions) => {
  let last = newestOf(directory)
  let running: RunningBackup | undefined

  /** A backup is a file, so its row in the audit is a unit of its own. */
  const audit = (caller: Caller, entry: AuditEntry) => db.write([auditRow(caller, clock(), entry)])

  const copy = async (started: RunningBackup) => {
    const { database, wal } = await db.fileSizes()
    // The WAL may have pages that the database file has not yet.
    await directory.assertSpace(database + wal)
    return directory.add({ kind: started.kind, createdAt: started.startedAt }, (partial) =>
      db.backups.copy(partial, ({ copied, total }) => {
        running = { ...started, copiedBytes: copied, totalBytes: total }
      })
    )
  }

  /** Returns the new backup. It is made also if the client disconnects. @throws BACKUP_RUNNING, DISK_FULL */
  const create = async (caller: Caller, kind: BackupKind = 'manual'): Promise<Backup> => {
    if (running) throw backupRunning()
    const started = { kind, startedAt: clock(), copiedBytes: 0, totalBytes: 0 }
    running = started
    let bytes: number | undefined
    try {
      const backup = await copy(started)
      bytes = backup.bytes
      await audit(caller, { action: 'backup.create', target: backup.name, summary: { bytes } })
      return backup
    } finally {
      last = { at: clock(), bytes: bytes ?? 0, ok: bytes !== undefined }
      running = undefined
    }
  }

  /** The file goes first: on a full disk, the row needs its space. @throws BACKUP_NOT_FOUND */
  const remove = async (caller: Caller, name: string) => {
    await directory.remove(name)
    await audit(caller, { action: 'backup.delete', target: name })
  }

  /** Makes a scheduled backup, and then deletes the scheduled ones that no rule keeps. */
  const runScheduled = async () => {
    await create(serviceCaller, 'scheduled')
    for (const { name } of expiredOf(keep, directory.list())) await remove(serviceCaller, name)
  }

  let checked: Promise<unknown> = Promise.resolve()

  /** Checks one file at a time: a hostile one can take a lot of memory. */
  const check = (partial: string) => {
    const next = checked.then(() => db.backups.check(partial))
    checked = next.catch(() => {})
    return next
  }

  /** Returns a backup to be downloaded. @throws BACKUP_NOT_FOUND */
  const download = (caller: Caller, name: string) => {
    const backup = directory.find(name)
    auditRead(caller, { action: 'backup.download', target: name, summary: { bytes: backup.bytes } })
    return backup
  }

  /** Stores a file of an unknown source, and checks it. @throws BACKUP_INVALID, DISK_FULL */
  const upload = async (caller: Caller, chunks: BodyChunks): Promise<Backup> => {
    const backup = await directory.add({ kind: 'upload', createdAt: clock() }, async (partial) => {
      const file = await open(partial, 'w')
      try {
        for await (const chunk of chunks) {
          await directory.assertSpace(chunk.length)
          await file.writeFile(chunk)
        }
      } finally {
        await file.close()
      }
      await check(partial)
      // The session may have ended while the file arrived.
      await caller.confirmRight()
    })
    await audit(caller, { action: 'backup.upload', target: backup.name, summary: { bytes: backup.bytes } })
    return backup
  }

  return {
    create,
    upload,
    runScheduled,
    list: (_caller: Caller): BackupList => ({ backups: directory.list(), ...(running && { running }) }),
    download,
    remove,
    /** Returns the last backup that has ended; null if there is none. For the metrics. */
    last: () => last,
    /** The path of the directory. */
    path: directory.path
  }
}
export type BackupService = ReturnType<typeof createBackupService>

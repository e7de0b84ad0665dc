import { open } from 'node:fs/promises'
import type { Backup, BackupKind, BackupList, RestoreResult, RunningBackup } from '../../schemas/backup.ts'
import type { BodyChunks } from '../../schemas/import.ts'
import { type AuditEntry, auditRow } from '../audit/audit-row.ts'
import type { AuditRead } from '../audit/read-audit.ts'
import type { BackupProgress, Database } from '../engine/database.ts'
import { type Caller, serviceCaller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import type { BackupDirectory } from './directory.ts'
import { accessNotForKeys, backupRunning, importRunning } from './failures.ts'
import { expiredOf, type KeepRule } from './keep.ts'

interface BackupServiceOptions {
  readonly db: Pick<Database, 'backups' | 'counts' | 'fileSizes' | 'write'>
  readonly clock: Clock
  readonly directory: BackupDirectory
  /** Returns the rules of scheduled backups. */
  readonly keep: () => readonly KeepRule[]
  readonly auditRead: AuditRead
  readonly reload: RestoreReload
}

/** Reads everything again that the services cache, after a restore. */
export interface RestoreReload {
  /** Before the first write. If the restore has replaced the accounts, ends all sessions. */
  access(includesAccess: boolean): Promise<unknown>
  all(): Promise<unknown>
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

/** Makes, restores, uploads, lists and deletes backups. One is made or restored at a time. */
export const createBackupService = ({ db, clock, directory, keep, auditRead, reload }: BackupServiceOptions) => {
  let last = newestOf(directory)
  let running: RunningBackup | undefined

  /** Stores a row in a unit of its own: a backup is a file, so its change has no unit. */
  const audit = (caller: Caller, entry: AuditEntry) => db.write([auditRow(caller, clock(), entry)])

  const showProgress =
    (started: RunningBackup) =>
    ({ copied, total }: BackupProgress) => {
      running = { ...started, copiedBytes: copied, totalBytes: total }
    }

  const copy = async (started: RunningBackup) => {
    const { database, wal } = await db.fileSizes()
    // The WAL may have pages that the database file has not yet.
    await directory.assertSpace(database + wal)
    return directory.add({ kind: started.kind, createdAt: started.startedAt }, (partial) =>
      db.backups.copy(partial, showProgress(started), started.kind === 'before-restore')
    )
  }

  /** Runs a task, unless another one runs. @throws BACKUP_RUNNING */
  const runAlone = async <T>(kind: BackupKind, task: (started: RunningBackup) => Promise<T>): Promise<T> => {
    if (running) throw backupRunning()
    const started = { kind, startedAt: clock(), copiedBytes: 0, totalBytes: 0 }
    running = started
    try {
      return await task(started)
    } finally {
      running = undefined
    }
  }

  const copyAndRecord = async (started: RunningBackup) => {
    let bytes: number | undefined
    try {
      const backup = await copy(started)
      bytes = backup.bytes
      return backup
    } finally {
      last = { at: clock(), bytes: bytes ?? 0, ok: bytes !== undefined }
    }
  }

  /** Returns the new backup. It is made also if the client disconnects. @throws BACKUP_RUNNING, DISK_FULL */
  const create = (caller: Caller, kind: BackupKind = 'manual'): Promise<Backup> =>
    runAlone(kind, async (started) => {
      const backup = await copyAndRecord(started)
      await audit(caller, { action: 'backup.create', target: backup.name, summary: { bytes: backup.bytes } })
      return backup
    })

  /** @throws IMPORT_RUNNING */
  const assertNoImport = () => {
    if (db.counts().stagings.running > 0) throw importRunning()
  }

  /**
   * Replaces the content of the served file by that of a backup, and returns a backup of the state before. Writes fail until
   * this is done. It goes on if the client disconnects.
   * @throws ADMIN_KEY_NOT_ALLOWED, BACKUP_NOT_FOUND, BACKUP_RUNNING, IMPORT_RUNNING, BACKUP_INVALID, RIGHTS_CONFLICT, DISK_FULL
   */
  const restore = async (caller: Caller, name: string, includesAccess: boolean): Promise<RestoreResult> => {
    if (includesAccess && caller.kind === 'key') throw accessNotForKeys()
    const backup = directory.find(name)
    assertNoImport()
    return runAlone('before-restore', async (started) => {
      let before: Backup | undefined
      const onLocked = async () => {
        before = await copyAndRecord(started)
      }
      const audited = auditRow(caller, clock(), {
        action: 'backup.restore',
        target: name,
        summary: { includesAccess }
      })
      const onProgress = showProgress(started)
      await db.backups.restore(directory.pathOf(backup), {
        includesAccess,
        audited,
        // One may have begun while the backup was checked.
        beforePause: assertNoImport,
        onLocked,
        onProgress,
        onRestored: () => reload.access(includesAccess)
      })
      await reload.all()
      return { before: before as Backup }
    })
  }

  /** During a restore, the row of the audit cannot be stored. @throws BACKUP_RUNNING */
  const assertNoRestore = () => {
    if (running?.kind === 'before-restore') throw backupRunning()
  }

  /** The file goes first: on a full disk, the row needs its space. @throws BACKUP_NOT_FOUND, BACKUP_RUNNING */
  const remove = async (caller: Caller, name: string) => {
    assertNoRestore()
    await directory.remove(name)
    await audit(caller, { action: 'backup.delete', target: name })
  }

  /** Makes a scheduled backup, and then deletes the scheduled ones that no rule keeps. */
  const runScheduled = async () => {
    await create(serviceCaller, 'scheduled')
    for (const { name } of expiredOf(keep(), directory.list())) await remove(serviceCaller, name)
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
      assertNoRestore()
      // The session may have ended while the file arrived.
      await caller.confirmRight()
    })
    await audit(caller, { action: 'backup.upload', target: backup.name, summary: { bytes: backup.bytes } })
    return backup
  }

  return {
    create,
    restore,
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

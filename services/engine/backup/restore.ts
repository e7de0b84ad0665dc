import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync } from 'node:fs'
import { textLiteral } from '../../sql/identifiers.ts'
import { type Connection, openConnection } from '../shared/connection.ts'
import { migrate } from '../writer/migrations.ts'
import { checkBackup, invalidBackup } from './check-backup.ts'
import { sleep } from './copy.ts'
import type { BackupProgress, RestoreTask, StageTask } from './protocol.ts'

/** MiB. Each page is read once. */
const CACHE_SIZE = 8
/** Milliseconds to wait for a lock of another program. */
const BUSY_TIMEOUT_MS = 2000
/** Bytes between two reports. */
const STEP_BYTES = 16 * 2 ** 20
/** Milliseconds between two looks for the message that the copy may go on. */
const WAIT_MS = 10

/** They stay in any case: what happened after the backup has happened, and the settings are those of this machine. */
const ALWAYS_KEPT = ['_rowhouse_audit', '_rowhouse_settings']
const ACCESS = ['_rowhouse_admins', '_rowhouse_sessions', '_rowhouse_tokens']

const open = (file: string, readonly = false) =>
  openConnection({ file, readonly, busyTimeout: BUSY_TIMEOUT_MS, cacheSize: CACHE_SIZE })

const withConnection = async <T>(connection: Connection, use: (connection: Connection) => T): Promise<Awaited<T>> => {
  try {
    return await use(connection)
  } finally {
    connection.close()
  }
}

const namesOf = (tables: readonly string[]) => tables.map(textLiteral).join(', ')

/** Returns the size of a page, and the declarations of the tables that a restore can keep, with their triggers. */
const describe = (file: string) =>
  withConnection(open(file, true), ({ rows, value }) => ({
    pageSize: Number(value('PRAGMA page_size')),
    declarations: JSON.stringify(
      rows(
        `SELECT type, name, sql FROM sqlite_schema WHERE tbl_name IN (${namesOf([...ALWAYS_KEPT, ...ACCESS])}) ORDER BY type, name`,
        []
      )
    )
  }))

/** SQLite cannot copy pages of another size into a database with a WAL. */
const assertSuitable = async (staged: string, served: string) => {
  const [backup, present] = [await describe(staged), await describe(served)]
  if (backup.pageSize !== present.pageSize)
    throw invalidBackup(
      `The backup has pages of ${backup.pageSize} bytes, and the served file has pages of ${present.pageSize}. Stop the service, and replace the file.`
    )
  if (backup.declarations !== present.declarations)
    throw invalidBackup('The tables of Rowhouse in the backup have other columns, indexes or triggers than those here.')
}

/**
 * Copies a backup, checks the copy, and brings the tables of Rowhouse in it to the latest version. The backup stays as it
 * is. @throws BACKUP_INVALID
 */
export const stageBackup = async ({ backup, staged, served }: StageTask) => {
  copyFileSync(backup, staged, constants.COPYFILE_FICLONE)
  checkBackup(staged)
  await withConnection(open(staged), migrate)
  await assertSuitable(staged, served)
}

/** Replaces the rows of these tables by those of the served file, with the highest ids that were used. */
const keepPresent = ({ raw }: Connection, tables: readonly string[]) => {
  for (const table of tables) {
    raw.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM present.${table}`)
  }
  const names = namesOf(tables)
  raw.exec(`DELETE FROM main.sqlite_sequence WHERE name IN (${names});
    INSERT INTO main.sqlite_sequence SELECT * FROM present.sqlite_sequence WHERE name IN (${names})`)
}

/** A credential that was revoked after the backup would work again. */
const closeAccess = ({ raw }: Connection) =>
  raw.exec('DELETE FROM main._rowhouse_sessions; UPDATE main._rowhouse_tokens SET is_active = 0')

const setAccess = (staged: Connection, { served, includesAccess, audited }: RestoreTask) => {
  const { raw, run } = staged
  raw.pragma('foreign_keys = OFF')
  raw.exec(`ATTACH ${textLiteral(served)} AS present`)
  raw.exec('BEGIN')
  keepPresent(staged, includesAccess ? ALWAYS_KEPT : [...ALWAYS_KEPT, ...ACCESS])
  if (includesAccess) closeAccess(staged)
  run(audited.sql, audited.params)
  raw.exec('COMMIT; DETACH present')
}

interface RestoreEvents {
  /** Called when no other program can write any more. */
  readonly onLocked: () => void
  /** Whether the copy may go on. */
  readonly mayGo: () => boolean
  /** @throws if the service has ended */
  readonly assertServed: () => void
  readonly onProgress: (progress: BackupProgress) => void
}

/** The first step copies no page, but takes the lock of the served file, which is held until the last page is copied. */
const copyInto = async ({ raw, value }: Connection, served: string, events: RestoreEvents) => {
  const { assertServed, onLocked, mayGo, onProgress } = events
  const pageSize = Number(value('PRAGMA page_size'))
  let isLocked = false
  await raw.backup(served, {
    progress: ({ totalPages, remainingPages }) => {
      // With the lock: a service that started before has written nothing since.
      assertServed()
      if (!isLocked) onLocked()
      isLocked = true
      if (!mayGo()) {
        sleep(WAIT_MS)
        return 0
      }
      onProgress({ copied: (totalPages - remainingPages) * pageSize, total: totalPages * pageSize })
      return Math.ceil(STEP_BYTES / pageSize)
    }
  })
}

/** The connection of the copy has synchronous=NORMAL, which does not sync the WAL at a commit. */
const makeDurable = (served: string) => {
  const wal = `${served}-wal`
  if (existsSync(wal)) {
    const descriptor = openSync(wal, 'r')
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  return withConnection(open(served), ({ value }) => value('PRAGMA wal_checkpoint(TRUNCATE)'))
}

/**
 * Copies the pages of a staged backup into the served file, in one transaction: other connections see the state before or
 * after. The service has paused its writes. The change is durable when this resolves.
 */
export const restoreBackup = async (task: RestoreTask, events: RestoreEvents) => {
  await withConnection(open(task.staged), async (staged) => {
    setAccess(staged, task)
    await copyInto(staged, task.served, events)
  })
  await makeDurable(task.served)
}

import { closeSync, constants, copyFileSync, fsyncSync, openSync } from 'node:fs'
import type { BackupMetadata } from 'better-sqlite3'
import { textLiteral } from '../../sql/identifiers.ts'
import type { BackupProgress } from '../database.ts'
import { type Connection, openConnection } from '../shared/connection.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { readRepeatedGrants } from '../shared/stored-grants.ts'
import { migrate } from '../writer/migrations.ts'
import { checkBackup, invalidBackup } from './check-backup.ts'
import { BUSY_TIMEOUT_MS, sleep } from './copy.ts'
import type { RestoreTask, StageTask } from './protocol.ts'

/** MiB. Each page is read once. */
const CACHE_SIZE = 8
/** Bytes between two reports. */
const STEP_BYTES = 16 * 2 ** 20
/** Milliseconds between two checks of `isReleased`. */
const WAIT_MS = 10

/** They stay in each restore: the audit also has what happened after the backup, and the settings belong to this machine. */
const ALWAYS_KEPT = ['_rowhouse_audit', '_rowhouse_settings']
const ACCESS = [
  '_rowhouse_admins',
  '_rowhouse_sessions',
  '_rowhouse_roles',
  '_rowhouse_tokens',
  '_rowhouse_token_uses',
  '_rowhouse_admin_keys'
]

const open = (file: string, readonly = false) =>
  openConnection({ file, readonly, busyTimeout: BUSY_TIMEOUT_MS, cacheSize: CACHE_SIZE })

const withConnection = async <T>(connection: Connection, use: (connection: Connection) => T): Promise<Awaited<T>> => {
  try {
    return await use(connection)
  } finally {
    connection.close()
  }
}

/** Our own tables, with their indexes and triggers. Those of search indexes belong to the tables of clients. */
const OWN_DECLARATIONS = `SELECT type, name, sql FROM sqlite_schema
  WHERE tbl_name LIKE '\\_rowhouse\\_%' ESCAPE '\\' AND tbl_name NOT LIKE '\\_rowhouse\\_search\\_%' ESCAPE '\\' ORDER BY type, name`

const describe = (file: string) =>
  withConnection(open(file, true), ({ rows, value }) => ({
    pageSize: Number(value('PRAGMA page_size')),
    encoding: String(value('PRAGMA encoding')),
    declarations: JSON.stringify(rows(OWN_DECLARATIONS, []))
  }))

/** SQLite cannot copy pages of another size into a database with a WAL. */
const assertSuitable = async (staged: string, served: string) => {
  const [backup, present] = [await describe(staged), await describe(served)]
  if (backup.pageSize !== present.pageSize || backup.encoding !== present.encoding)
    throw invalidBackup(
      `The backup has pages of ${backup.pageSize} bytes and text in ${backup.encoding}, and the served file has pages of ${present.pageSize} bytes and text in ${present.encoding}. Stop the service, and copy the backup to its place.`
    )
  if (backup.declarations !== present.declarations)
    throw invalidBackup(
      'The tables of Rowhouse in the backup have other columns, indexes or triggers than those here: another program has changed them. Stop the service, and copy the backup to its place.'
    )
}

const migrateBackup = (staged: Connection) => {
  try {
    migrate(staged)
  } catch (error) {
    throw invalidBackup(`The tables of Rowhouse in the backup cannot be upgraded: ${toPlainError(error).message}.`)
  }
}

/**
 * Copies a backup, checks the copy, and brings the tables of Rowhouse in it to the latest version. The backup stays as it
 * is. @throws BACKUP_INVALID
 */
export const stageBackup = async ({ backup, staged, served }: StageTask) => {
  copyFileSync(backup, staged, constants.COPYFILE_FICLONE)
  checkBackup(staged)
  await withConnection(open(staged), migrateBackup)
  await assertSuitable(staged, served)
}

/** The highest ids of both files: no id is used twice. */
const KEEP_HIGHEST_IDS = `
  CREATE TEMP TABLE highest AS SELECT name, max(seq) AS seq
    FROM (SELECT name, seq FROM main.sqlite_sequence UNION ALL SELECT name, seq FROM present.sqlite_sequence)
    WHERE name IN (${[...ALWAYS_KEPT, ...ACCESS].map(textLiteral).join(', ')}) GROUP BY name;
  DELETE FROM main.sqlite_sequence WHERE name IN (SELECT name FROM temp.highest);
  INSERT INTO main.sqlite_sequence SELECT name, seq FROM temp.highest`

/** Otherwise a credential that was revoked after the backup would work again. */
const CLOSE_ACCESS =
  'DELETE FROM main._rowhouse_sessions; DELETE FROM main._rowhouse_admin_keys; UPDATE main._rowhouse_tokens SET is_active = 0, previous_digest = NULL, previous_until = NULL'

/** Replaces rows of the staged backup by those of the served file, and adds the row of the audit. */
const keepRows = ({ raw, run }: Connection, { served, includesAccess, audited }: RestoreTask) => {
  raw.pragma('foreign_keys = OFF')
  raw.exec(`ATTACH ${textLiteral(served)} AS present`)
  raw.exec('BEGIN')
  for (const table of includesAccess ? ALWAYS_KEPT : [...ALWAYS_KEPT, ...ACCESS])
    raw.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM present.${table}`)
  raw.exec(KEEP_HIGHEST_IDS)
  if (includesAccess) raw.exec(CLOSE_ACCESS)
  run(audited.sql, audited.params)
  raw.exec('COMMIT; DETACH present')
}

/** @throws RIGHTS_CONFLICT if two grants of a role name the same table and action */
const assertRestorableGrants = (staged: Connection) => {
  const repeated = readRepeatedGrants(staged)
  if (repeated.length > 0) throw Object.assign(new Error(repeated.join(' ')), { code: 'RIGHTS_CONFLICT' })
}

interface RestoreEvents {
  /** Called when no other program can write any more. */
  readonly onLocked: () => void
  /** Whether the service has sent `release`. */
  readonly isReleased: () => boolean
  /** @throws if the service has ended */
  readonly assertServed: () => void
  readonly onProgress: (progress: BackupProgress) => void
}

const createCopy = (staged: Connection, task: RestoreTask, events: RestoreEvents) => {
  const { assertServed, onLocked, isReleased, onProgress } = events
  const pageSize = Number(staged.value('PRAGMA page_size'))
  let isLocked = false

  const onStep = ({ totalPages, remainingPages }: BackupMetadata) => {
    // Under the write lock: if the service had ended, another one could have committed before.
    assertServed()
    if (!isLocked) {
      // Under the lock, too: what another program has revoked stays revoked.
      keepRows(staged, task)
      isLocked = true
      onLocked()
    }
    if (!isReleased()) {
      sleep(WAIT_MS)
      return 0
    }
    onProgress({ copied: (totalPages - remainingPages) * pageSize, total: totalPages * pageSize })
    return Math.ceil(STEP_BYTES / pageSize)
  }

  /** Returns false if another program has the lock: better-sqlite3 then ends without a copy. */
  const copy = async () => {
    await staged.raw.backup(task.served, { progress: onStep })
    return isLocked
  }
  return copy
}

/** The first step copies no page, but takes the write lock of the served file until the last page is copied. */
const copyInto = async (staged: Connection, task: RestoreTask, events: RestoreEvents) => {
  const copy = createCopy(staged, task, events)
  const end = performance.now() + BUSY_TIMEOUT_MS
  while (!(await copy())) {
    if (performance.now() > end) throw Object.assign(new Error(), { code: 'SQLITE_BUSY' })
    sleep(WAIT_MS)
  }
}

/** The connection of the copy has synchronous=NORMAL, which does not sync the WAL at a commit. */
const makeDurable = (served: string) => {
  const descriptor = openSync(`${served}-wal`, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** Copies the WAL into the file, so that it does not stay as large as the backup. If it fails, a later one does this. */
const shrinkWal = (served: string) =>
  withConnection(open(served), ({ value }) => value('PRAGMA wal_checkpoint(TRUNCATE)')).catch(() => {})

/**
 * Copies the pages of a staged backup into the served file, in one transaction: other connections see the state before or
 * after. The service has paused its writes. The change is durable when this resolves.
 */
export const restoreBackup = async (task: RestoreTask, events: RestoreEvents) => {
  await withConnection(open(task.staged), (staged) => {
    if (task.includesAccess) assertRestorableGrants(staged)
    return copyInto(staged, task, events)
  })
  makeDurable(task.served)
  await shrinkWal(task.served)
}

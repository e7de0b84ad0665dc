import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import type { BackupProgress } from '../database.ts'
import { type Connection, openConnection } from '../shared/connection.ts'
import { checkPages } from '../shared/integrity.ts'
import type { CopyTask } from './protocol.ts'
import { markWithoutWal } from './single-file.ts'

/** Bytes between two syncs and pauses. A sync of all pages at the end would make the commits of the writer wait for it. */
const STEP_BYTES = 2 ** 20
/** MiB. Each page is read once. */
const CACHE_SIZE = 1
/** Milliseconds to wait for a lock of another program. */
export const BUSY_TIMEOUT_MS = 2000

type OnProgress = (progress: BackupProgress) => void

const sleepCell = new Int32Array(new SharedArrayBuffer(4))

export const sleep = (milliseconds: number) => Atomics.wait(sleepCell, 0, 0, milliseconds)

/**
 * Copies the pages of one snapshot. SQLite starts a copy again after each commit of another connection, unless the
 * connection that reads is in a transaction: docs/decisions/0041-backups.md.
 */
const copyPages = async ({ raw, value }: Connection, { target, isUrgent }: CopyTask, onStep: OnProgress) => {
  raw.exec('BEGIN')
  // The first read begins the snapshot.
  value('SELECT count(*) FROM sqlite_schema')
  const pageSize = Number(value('PRAGMA page_size'))
  const pagesOfStep = Math.ceil(STEP_BYTES / pageSize)
  let start = performance.now()
  await raw.backup(target, {
    progress: ({ totalPages, remainingPages }) => {
      onStep({ copied: (totalPages - remainingPages) * pageSize, total: totalPages * pageSize })
      // A pause as long as the step leaves half of the disk and of the processor to requests.
      if (!isUrgent) sleep(performance.now() - start)
      start = performance.now()
      return pagesOfStep
    }
  })
}

const assertIntact = (target: string) => {
  const connection = openConnection({ file: target, readonly: true, busyTimeout: 0, cacheSize: CACHE_SIZE })
  try {
    const result = checkPages(connection)
    if (result !== 'ok') throw new Error(`The copy is damaged, and probably the served file, too: ${result}`)
  } finally {
    connection.close()
  }
}

/** Copies the served file. The copy is one file, checked and durable when this resolves. */
export const copyDatabase = async (task: CopyTask, onProgress: OnProgress) => {
  const { source, target } = task
  const descriptor = openSync(target, 'r+')
  const onStep = (progress: BackupProgress) => {
    fdatasyncSync(descriptor)
    onProgress(progress)
  }
  try {
    const connection = openConnection({
      file: source,
      readonly: true,
      busyTimeout: BUSY_TIMEOUT_MS,
      cacheSize: CACHE_SIZE
    })
    try {
      await copyPages(connection, task, onStep)
    } finally {
      connection.close()
    }
    markWithoutWal(descriptor)
    fsyncSync(descriptor)
    assertIntact(target)
  } finally {
    closeSync(descriptor)
  }
}

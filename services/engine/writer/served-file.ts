import { renameSync, statSync } from 'node:fs'
import type { Connection } from '../shared/connection.ts'

/**
 * Returns device and inode, which no other file has while this one is open; undefined without a file. Opening and closing
 * the file instead would release SQLite's locks on it (https://sqlite.org/howtocorrupt.html, 2.2).
 */
const identityOf = (path: string) => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev}-${stats.ino}`
}

/**
 * Returns a function that throws if the path of the open file has no file, or another one: what is written now would be
 * lost. Then it also renames our WAL, which SQLite would replay over a new file of this name.
 */
export const createServedFileCheck = (connection: Connection) => {
  const file = connection.raw.name
  const served = identityOf(file)
  // Both exist from the start on, and as long as this connection.
  const companions = ['-wal', '-shm'].map((ending) => ({ ending, identity: identityOf(file + ending) }))
  const aside = `${file}-replaced-${served}`

  const setAside = () => {
    for (const { ending, identity } of companions)
      if (identityOf(file + ending) === identity) renameSync(file + ending, aside + ending)
  }

  return () => {
    if (identityOf(file) === served) return
    setAside()
    // A file that was moved then has all acknowledged changes.
    connection.value('PRAGMA wal_checkpoint(PASSIVE)')
    throw new Error(
      `${file} was removed or replaced while it was served. If it was moved, it has all acknowledged changes. Its write-ahead log is now ${aside}-wal. Put the file back or restore a backup, then start again.`
    )
  }
}

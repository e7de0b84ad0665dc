import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../served-file-digest.ts'

/**
 * Returns the inode of a file and the time when it was made, because a later file can get the same inode; '' without a
 * file. Devices are not compared: their numbers may change when the machine starts.
 */
const identityOf = (path: string) => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.ino}-${stats.birthtimeNs}` : ''
}

/**
 * The file in the data directory that records which database was served last under this path: the path, the
 * identity of the file and that of its WAL, each in a line. With it, the next start notices that the database was removed or replaced.
 */
export const createServedRecord = (dataDirectory: string, file: string) => {
  const record = join(dataDirectory, `served-${digestOf(file)}`)
  const wal = `${file}-wal`

  /** @throws if the file is gone, or if SQLite would replay the WAL of the previous file over this one */
  const check = () => {
    if (!existsSync(record)) return
    if (!existsSync(file)) {
      throw new Error(
        `${file} was served before, and is gone. Restore it from a backup, or delete ${record} to start with an empty database.`
      )
    }
    const [, identity, walIdentity] = readFileSync(record, 'utf8').split('\n')
    if (identityOf(file) === identity || identityOf(wal) !== walIdentity) return
    throw new Error(
      `${file} was replaced, but ${wal} has the last changes of the previous file. Delete ${wal} and ${file}-shm to serve the new file, or ${record} if this is a copy to which these changes belong.`
    )
  }

  /** Call it while the WAL exists. */
  const write = () => {
    // Another name first: an incomplete record could not be compared.
    writeFileSync(`${record}.new`, `${[file, identityOf(file), identityOf(wal)].join('\n')}\n`)
    renameSync(`${record}.new`, record)
  }

  return { check, write }
}

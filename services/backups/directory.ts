import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open, rm, statfs, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Backup } from '../../schemas/backup.ts'
import { digestOf } from '../engine/served-file-digest.ts'
import { backupNotFound, explainDirectory, noSpace } from './failures.ts'
import { type NameParts, nameOf, parseName } from './names.ts'

/** The end of the name of a file that is not whole. SQLite adds `-journal` while it copies. */
const PARTIAL = /^[0-9a-f-]{36}\.partial(?:-journal)?$/

/** A backup is as private as the database. */
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

/** Bytes that stay free on the disk: the write-ahead log may be there, and it grows during a backup. */
const MARGIN_BYTES = 64 * 2 ** 20

const SECOND_MS = 1000

/** Makes the names in a directory durable. */
const syncDirectory = async (directory: string) => {
  const handle = await open(directory, 'r')
  await handle.sync().finally(() => handle.close())
}

const byTime = (a: Backup, b: Backup) => b.createdAt - a.createdAt || b.name.localeCompare(a.name)

/** @throws STORAGE_UNAVAILABLE */
const readEntries = (directory: string) => {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    throw explainDirectory(error)
  }
}

const prepare = (directory: string, prefix: string) => {
  try {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  } catch (error) {
    throw new Error(
      `${directory}, the directory of the backups, is not a directory and cannot be created: ${(error as Error).message}. Set BACKUP_DIR to another one.`
    )
  }
  for (const name of readdirSync(directory))
    if (name.startsWith(prefix) && PARTIAL.test(name.slice(prefix.length)))
      rmSync(join(directory, name), { force: true })
}

/** Writes the content of a backup into an empty file, and makes it durable. */
type Fill = (partial: string) => Promise<void>

interface DirectoryOptions {
  readonly path: string
  /** The path of the served file. */
  readonly servedFile: string
  /** Bytes that must stay free on the disk. */
  readonly marginBytes?: number
}

/**
 * Opens the directory of backups, which is created if it does not exist. Its files are the only list of backups. Removes
 * what a killed process has left: call it with the lock of the served file.
 * @throws an Error if it is not a directory
 */
export const openBackupDirectory = ({ path, servedFile, marginBytes = MARGIN_BYTES }: DirectoryOptions) => {
  const directory = resolve(path)
  // Another service may use the directory, too.
  const prefix = `${digestOf(servedFile)}-`
  prepare(directory, prefix)

  /** Returns the backups, the latest first. */
  const list = (): Backup[] =>
    readEntries(directory)
      .flatMap((entry) => {
        const parts = entry.isFile() ? parseName(entry.name) : null
        return parts ? [{ name: entry.name, ...parts, bytes: statSync(join(directory, entry.name)).size }] : []
      })
      .sort(byTime)

  /** @throws BACKUP_NOT_FOUND */
  const find = (name: string): Backup => {
    const found = list().find((backup) => backup.name === name)
    if (!found) throw backupNotFound(name)
    return found
  }

  /** @throws DISK_FULL if the disk has fewer free bytes */
  const assertSpace = async (bytes: number) => {
    const { bavail, bsize } = await statfs(directory).catch((error) => {
      throw explainDirectory(error)
    })
    const free = bavail * bsize
    if (free < bytes + marginBytes) throw noSpace(bytes + marginBytes, free)
  }

  /** Returns the first free name from this time on: there may be several backups in a second. */
  const freeName = ({ kind, createdAt }: NameParts): string => {
    const name = nameOf({ kind, createdAt })
    return existsSync(join(directory, name)) ? freeName({ kind, createdAt: createdAt + SECOND_MS }) : name
  }

  /** Makes a file under another name first, so that no backup is half a file. `fill` makes its content durable. */
  const fillAndRename = async (parts: NameParts, fill: Fill): Promise<Backup> => {
    const partial = join(directory, `${prefix}${randomUUID()}.partial`)
    try {
      await writeFile(partial, '', { mode: FILE_MODE, flag: 'wx' })
      await fill(partial)
      const name = freeName(parts)
      renameSync(partial, join(directory, name))
      await syncDirectory(directory)
      return find(name)
    } finally {
      for (const end of ['', '-journal']) await rm(`${partial}${end}`, { force: true })
    }
  }

  /** Adds a backup. @throws STORAGE_UNAVAILABLE */
  const add = (parts: NameParts, fill: Fill): Promise<Backup> =>
    fillAndRename(parts, fill).catch((error) => {
      throw explainDirectory(error)
    })

  /** @throws BACKUP_NOT_FOUND */
  const remove = async (name: string) => {
    // Not on the event loop: the file system needs some 60 ms to free 200 MB.
    await rm(join(directory, find(name).name))
    await syncDirectory(directory)
  }

  /** The path of a backup that `find` has returned. */
  const pathOf = ({ name }: Backup) => join(directory, name)

  return { path: directory, list, find, pathOf, assertSpace, add, remove }
}
export type BackupDirectory = ReturnType<typeof openBackupDirectory>

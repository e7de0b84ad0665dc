import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open, statfs, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Backup } from '../../schemas/backup.ts'
import { backupNotFound, noSpace } from './failures.ts'
import { type NameParts, nameOf, parseName } from './names.ts'

/** The name of a file that is not whole. SQLite adds `-journal` while it copies. */
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

const byTime = (a: Backup, b: Backup) => b.createdAt - a.createdAt || (a.name < b.name ? 1 : -1)

const prepare = (directory: string) => {
  try {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  } catch (error) {
    throw new Error(
      `BACKUP_DIR names ${directory}, which is not a directory and cannot be created: ${(error as Error).message}.`
    )
  }
  for (const name of readdirSync(directory)) if (PARTIAL.test(name)) rmSync(join(directory, name), { force: true })
}

/**
 * Opens the directory of backups, which is created if it does not exist. Its files are the only list of backups. Removes
 * what a killed process has left: call it with the lock of the served file. `marginBytes`: stay free on the disk.
 * @throws an Error if it is not a directory
 */
export const openBackupDirectory = (path: string, marginBytes = MARGIN_BYTES) => {
  const directory = resolve(path)
  prepare(directory)

  /** Returns the backups, the latest first. */
  const list = (): Backup[] =>
    readdirSync(directory, { withFileTypes: true })
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

  /** @throws DISK_FULL if the disk has not this number of bytes for a file */
  const assertSpace = async (bytes: number) => {
    const { bavail, bsize } = await statfs(directory)
    const free = bavail * bsize
    if (free < bytes + marginBytes) throw noSpace(bytes + marginBytes, free)
  }

  /** Returns the first free name from this time on: there may be several backups in a second. */
  const freeName = ({ kind, createdAt }: NameParts): string => {
    const name = nameOf({ kind, createdAt })
    return existsSync(join(directory, name)) ? freeName({ kind, createdAt: createdAt + SECOND_MS }) : name
  }

  /** Makes a file under another name first, so that no backup is half a file. `fill` makes its content durable. */
  const add = async (parts: NameParts, fill: (partial: string) => Promise<void>): Promise<Backup> => {
    const partial = join(directory, `${randomUUID()}.partial`)
    try {
      await writeFile(partial, '', { mode: FILE_MODE, flag: 'wx' })
      await fill(partial)
      const name = freeName(parts)
      renameSync(partial, join(directory, name))
      await syncDirectory(directory)
      return find(name)
    } finally {
      for (const end of ['', '-journal']) rmSync(`${partial}${end}`, { force: true })
    }
  }

  /** @throws BACKUP_NOT_FOUND */
  const remove = async (name: string) => {
    rmSync(join(directory, find(name).name))
    await syncDirectory(directory)
  }

  return { path: directory, list, find, assertSpace, add, remove }
}
export type BackupDirectory = ReturnType<typeof openBackupDirectory>

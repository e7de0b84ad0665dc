import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A change that the interposer `power-cut.c` has written to its journal. */
export interface Change {
  /** Create, write, truncate, sync, unlink, rename. */
  readonly kind: 'C' | 'W' | 'T' | 'S' | 'U' | 'R'
  readonly name: string
  /** W: the offset; T: the new size. */
  readonly position: number
  /** W: the bytes; R: the new name. */
  readonly data: Buffer
}

/** The contents of the files of a directory, by name. */
export type Files = ReadonlyMap<string, Buffer>

const SECTOR = 512
/** The shared memory of the WAL index is never on the disk. */
const isMemory = (name: string) => name.endsWith('-shm')

export function* readJournal(journal: Buffer): Generator<Change> {
  for (let at = 0; at < journal.length; ) {
    const end = journal.indexOf('\n', at)
    const [kind, name, position, length] = journal.toString('utf8', at, end).split(' ')
    at = end + 1 + Number(length)
    yield {
      kind: kind as Change['kind'],
      name: String(name),
      position: Number(position),
      data: journal.subarray(end + 1, at)
    }
  }
}

/** The content of a file on the disk, and the later changes that are only in the page cache. */
interface Inode {
  bytes: Buffer
  size: number
  unsynced: Change[]
}

const inode = (bytes: Buffer = Buffer.alloc(0)): Inode => ({ bytes, size: bytes.length, unsynced: [] })

const resize = (file: Inode, size: number) => {
  if (size > file.bytes.length) file.bytes = Buffer.concat([file.bytes], Math.max(size, 2 * file.bytes.length))
  file.bytes.fill(0, Math.min(size, file.size), Math.max(size, file.size))
  file.size = size
}

const put = (file: Inode, position: number, data: Buffer) => {
  if (position + data.length > file.size) resize(file, position + data.length)
  data.copy(file.bytes, position)
}

const apply = (file: Inode, { kind, position, data }: Change) =>
  kind === 'W' ? put(file, position, data) : resize(file, position)

/** Applies a random part of the sectors of a write. A sector is written completely or not at all. */
const tear = (file: Inode, { position, data }: Change, random: () => number) => {
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + SECTOR - ((position + at) % SECTOR))
    if (random() < 0.5) put(file, position + at, data.subarray(at, end))
    at = end
  }
}

/** Drops a change that was not synced, applies it, or, if it is a write, applies a part of it. */
const applyAtRandom = (file: Inode, change: Change, random: () => number) => {
  const fate = Math.floor(random() * 3)
  if (fate === 1) apply(file, change)
  if (fate === 2 && change.kind === 'W') tear(file, change, random)
}

/** Two maps from names to files: the one that the process sees, and the one on the disk, older until the next sync. */
const createDirectory = (files: Files) => {
  const current = new Map([...files].map(([name, bytes]) => [name, inode(Buffer.from(bytes))]))
  const stored = new Map(current)
  const unsynced: ((names: Map<string, Inode>) => void)[] = []

  const change = (step: (names: Map<string, Inode>) => void) => {
    step(current)
    unsynced.push(step)
  }
  /** In order, as in a file system with a journal. */
  const store = (count: number) => {
    for (const step of unsynced.splice(0, count)) step(stored)
  }

  return {
    find: (name: string) => current.get(name),
    create: (name: string) => {
      const file = inode()
      if (!current.has(name)) change((names) => names.set(name, file))
    },
    remove: (name: string) => change((names) => names.delete(name)),
    rename: (from: string, to: string) => {
      const file = current.get(from) as Inode
      change((names) => names.delete(from) && names.set(to, file))
    },
    sync: () => store(unsynced.length),
    cut: (random: () => number) => {
      store(Math.floor(random() * (unsynced.length + 1)))
      return stored
    }
  }
}

type Directory = ReturnType<typeof createDirectory>

const syncFile = (file: Inode) => {
  for (const change of file.unsynced) apply(file, change)
  file.unsynced = []
}

const replay = (directory: Directory, change: Change) => {
  const { kind, name, data } = change
  if (kind === 'C') return directory.create(name)
  if (kind === 'U') return directory.remove(name)
  if (kind === 'R') return directory.rename(name, String(data))
  if (name === '.') return directory.sync()
  const file = directory.find(name)
  if (!file) throw new Error(`The journal has a change ${kind} of ${name}, but ${name} was not created.`)
  if (kind === 'S') return syncFile(file)
  file.unsynced.push(change)
}

/**
 * Returns the files on the disk after these changes and a power cut. Changes before an acknowledged fsync are on the disk.
 * Each later change is dropped, kept or torn at random, independent of the order of the writes.
 */
export const survivors = (before: Files, changes: Iterable<Change>, random: () => number = Math.random): Files => {
  const directory = createDirectory(before)
  for (const change of changes) if (!isMemory(change.name)) replay(directory, change)
  const files = directory.cut(random)
  for (const file of files.values()) for (const change of file.unsynced) applyAtRandom(file, change, random)
  return new Map([...files].map(([name, { bytes, size }]) => [name, bytes.subarray(0, size)]))
}

const isFile = (path: string) => statSync(path).isFile()

/** Returns the files of a directory and of its folders, by their path in it. */
export const readFiles = (directory: string): Files =>
  new Map(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => !isMemory(name) && isFile(join(directory, name)))
      .map((name) => [name, readFileSync(join(directory, name))])
  )

/** Replaces the files of a directory by these. */
export const writeFiles = (directory: string, files: Files) => {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  for (const [name, bytes] of files) {
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes, { mode: 0o600 })
  }
}

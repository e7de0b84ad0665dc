import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the interposer `power-cut.c` writes down of a change. */
export interface Change {
  readonly kind: 'C' | 'W' | 'T' | 'S' | 'U' | 'R'
  readonly name: string
  /** Of W, where it begins; of T, the new size. */
  readonly position: number
  /** Of W, what is written; of R, the new name. */
  readonly data: Buffer
}

/** The files of a directory. */
export type Files = ReadonlyMap<string, Buffer>

const SECTOR = 512
/** What the kernel keeps in memory: no disk has it. */
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

/** A file as the disk has it, and the changes of it that only the page cache has. */
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

/** Some of the sectors that a write touches, each as a whole or not at all. */
const tear = (file: Inode, { position, data }: Change, random: () => number) => {
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + SECTOR - ((position + at) % SECTOR))
    if (random() < 0.5) put(file, position + at, data.subarray(at, end))
    at = end
  }
}

/** A change that was not synced is lost, on the disk by chance, or, if it is a write, there in part. */
const leaveToChance = (file: Inode, change: Change, random: () => number) => {
  const fate = Math.floor(random() * 3)
  if (fate === 1) apply(file, change)
  if (fate === 2 && change.kind === 'W') tear(file, change, random)
}

/** Names point to files as the process sees them, and as the disk has them until the directory is synced. */
const createDirectory = (files: Files) => {
  const seen = new Map([...files].map(([name, bytes]) => [name, inode(Buffer.from(bytes))]))
  const stored = new Map(seen)
  const unsynced: ((names: Map<string, Inode>) => void)[] = []

  const change = (step: (names: Map<string, Inode>) => void) => {
    step(seen)
    unsynced.push(step)
  }
  /** A file system that keeps a journal keeps the order of these. */
  const store = (count: number) => {
    for (const step of unsynced.splice(0, count)) step(stored)
  }

  return {
    find: (name: string) => seen.get(name),
    create: (name: string) => {
      const file = inode()
      if (!seen.has(name)) change((names) => names.set(name, file))
    },
    remove: (name: string) => change((names) => names.delete(name)),
    rename: (from: string, to: string) => {
      const file = seen.get(from) as Inode
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
  if (!file) throw new Error(`${kind} of ${name}, which was never created`)
  if (kind === 'S') return syncFile(file)
  file.unsynced.push(change)
}

/**
 * What a power cut after these changes leaves on the disk. What an fsync has acknowledged is there; everything else is
 * as chance has it, whatever the order in which it was written.
 */
export const survivors = (before: Files, changes: Iterable<Change>, random: () => number = Math.random): Files => {
  const directory = createDirectory(before)
  for (const change of changes) if (!isMemory(change.name)) replay(directory, change)
  const files = directory.cut(random)
  for (const file of files.values()) for (const change of file.unsynced) leaveToChance(file, change, random)
  return new Map([...files].map(([name, { bytes, size }]) => [name, bytes.subarray(0, size)]))
}

export const readFiles = (directory: string): Files =>
  new Map(
    readdirSync(directory)
      .filter((name) => !isMemory(name))
      .map((name) => [name, readFileSync(join(directory, name))])
  )

/** Puts these files, and no others, into a directory. */
export const writeFiles = (directory: string, files: Files) => {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes, { mode: 0o600 })
}

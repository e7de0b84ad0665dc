import { execFileSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './statistics.ts'

const PAGE = Buffer.alloc(4096, 1)
const SAMPLES = 300

/** Returns the median time of an fsync after writing one page to the disk of a directory, in milliseconds. */
export const measureFsync = (directory: string) => {
  const file = join(directory, 'fsync')
  const descriptor = openSync(file, 'w')
  const times = Array.from({ length: SAMPLES }, (_, index) => {
    writeSync(descriptor, PAGE, 0, PAGE.length, index * PAGE.length)
    const start = process.hrtime.bigint()
    fsyncSync(descriptor)
    return Number(process.hrtime.bigint() - start) / 1e6
  })
  closeSync(descriptor)
  rmSync(file)
  return median(times)
}

const source = fileURLToPath(new URL('../../bench/slow-fsync.c', import.meta.url))

/** Compiles a library that makes each fsync 2 ms longer. Returns the environment that loads it, or why it cannot. */
export const slowFsync = (directory: string): { env: Record<string, string> } | { missing: string } => {
  if (process.platform !== 'linux') return { missing: 'LD_PRELOAD needs Linux' }
  const library = join(directory, 'slow-fsync.so')
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { stdio: 'pipe' })
  } catch {
    return { missing: 'there is no C compiler (cc) for the interposer' }
  }
  return { env: { LD_PRELOAD: library } }
}

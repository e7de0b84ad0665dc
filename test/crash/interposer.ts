import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { temporaryDirectory } from '../helpers.ts'

/** The sources in C are not copied into build. */
const SOURCES = fileURLToPath(new URL('../../../test/crash/', import.meta.url))

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })

const hasCompiler = () => {
  try {
    run('cc', '--version')
    return true
  } catch {
    return false
  }
}

/** Why nothing can stand between the service and its disk on this machine; false where it can. */
export const noInterposer = (() => {
  if (process.platform !== 'linux') return 'LD_PRELOAD and /proc need Linux'
  return hasCompiler() ? false : 'no C compiler (cc) that could make the interposer'
})()

/** Compiles one of the sources beside this file. Gives the environment that loads it into the service. */
export const compileInterposer = (t: Test, source: string) => {
  const library = join(temporaryDirectory(t), 'interposer.so')
  run('cc', '-shared', '-fPIC', '-O2', '-Wall', '-Werror', '-o', library, join(SOURCES, source), '-ldl', '-lpthread')
  return { LD_PRELOAD: library }
}

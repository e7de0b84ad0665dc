import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'

/** The C sources stay in test/crash: the build does not copy them. */
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

/** The reason why this machine cannot run an interposer; false if it can. */
export const noInterposer = (() => {
  if (process.platform !== 'linux') return 'LD_PRELOAD and /proc need Linux'
  return hasCompiler() ? false : 'the interposer needs a C compiler (cc)'
})()

/** Compiles a C source of this folder. Returns the environment that loads it into the service. */
export const compileInterposer = (t: Test, source: string) => {
  const library = join(temporaryDirectory(t), 'interposer.so')
  run('cc', '-shared', '-fPIC', '-O2', '-Wall', '-Werror', '-o', library, join(SOURCES, source), '-ldl', '-lpthread')
  return { LD_PRELOAD: library }
}

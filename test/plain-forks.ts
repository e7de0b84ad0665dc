import processes, { type ForkOptions } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundleOf } from './bundles.ts'
import { plainNode } from './plain-process.ts'

const { fork } = processes
const [execPath, ...execArgv] = plainNode()

/**
 * Starts the processes for views without tap, as `npm start` does. Processes that start after this module is loaded are
 * not in the coverage. test/services/engine/loop/view-scans.test.ts covers their code.
 */
const forkPlain = (script: string, args: readonly string[], options: ForkOptions) =>
  fork(fileURLToPath(bundleOf(pathToFileURL(script))), args, { ...options, execPath, execArgv })

processes.fork = forkPlain as typeof fork
syncBuiltinESMExports()

import { syncBuiltinESMExports } from 'node:module'
import threads, { type WorkerOptions } from 'node:worker_threads'
import { bundleOf } from './bundles.ts'

/**
 * Starts threads without tap, as `npm start` does. tap would load itself into every thread, with one more thread for its
 * loader: nine tenths of the time to start a service. Threads that start after this module is loaded are not in the
 * coverage. The tests in test/services/ cover their code. A bundle starts faster than its modules.
 */
threads.Worker = class extends threads.Worker {
  constructor(filename: string | URL, options?: WorkerOptions) {
    const env = { ...process.env, ...(typeof options?.env === 'object' && options.env), NODE_OPTIONS: '' }
    super(bundleOf(filename), { ...options, env, execArgv: [] })
  }
}
syncBuiltinESMExports()

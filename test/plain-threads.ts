import { syncBuiltinESMExports } from 'node:module'
import threads, { type WorkerOptions } from 'node:worker_threads'

/**
 * tap would load itself into every thread, and beside each start one more for its loader: nine tenths of what it costs
 * to start a service. Threads that start after this module is loaded run as those of `npm start` do. They are not in the
 * coverage, which the tests below services/ get from threads of theirs.
 */
threads.Worker = class extends threads.Worker {
  constructor(filename: string | URL, options?: WorkerOptions) {
    const env = { ...process.env, ...(typeof options?.env === 'object' && options.env), NODE_OPTIONS: '' }
    super(filename, { ...options, env, execArgv: [] })
  }
}
syncBuiltinESMExports()

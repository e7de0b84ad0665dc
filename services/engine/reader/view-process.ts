import { Worker } from 'node:worker_threads'
import { createScan, type ScanRequest } from './scan.ts'
import { createTrial, type TrialRequest } from './trial.ts'

const [file = '', cacheSize, servicePid] = process.argv.slice(2)

/**
 * The code of a thread that ends this process when the service has ended: a statement blocks the main thread. As text, so
 * that the thread loads nothing else. It looks for another parent twice a second.
 */
const WATCH = `
  const { parentPort, workerData } = require('node:worker_threads')
  setInterval(() => {
    if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
  }, 500)
  parentPort.postMessage('ready')`

/** The service may have ended. Then this process ends too. */
const ignoreSendError = () => {}

// The service kills this process instead of setting `stop`.
const stop = new Int32Array(new SharedArrayBuffer(4))
const scan = createScan({ file, cacheSize: Number(cacheSize), stop })
const runTrial = createTrial({ file, busyTimeout: 2000, cacheSize: Number(cacheSize) })

process.on('message', (request: ScanRequest | TrialRequest) => {
  const outcome = 'trial' in request ? runTrial(request) : scan(request)
  process.send?.(outcome, undefined, undefined, ignoreSendError)
})

// A terminal or a supervisor signals all processes at once. This process is needed until the service has stopped.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.once('disconnect', () => process.exit())

const watch = new Worker(WATCH, { eval: true, workerData: Number(servicePid) })
watch.once('message', () => process.send?.('ready'))
watch.unref()

import { Worker } from 'node:worker_threads'

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

/** Ends this process when the service, its parent, has ended. Resolves when the watch runs. */
export const endWithService = (servicePid: number) => {
  // A terminal or a supervisor signals all processes at once. This process is needed until the service has stopped.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  process.once('disconnect', () => process.exit())
  const watch = new Worker(WATCH, { eval: true, workerData: servicePid })
  watch.unref()
  return new Promise<void>((resolve) => watch.once('message', () => resolve()))
}

/** The service may have ended. Then this process ends too. */
const ignoreSendError = () => {}

export const sendToService = (message: unknown) => process.send?.(message, undefined, undefined, ignoreSendError)

import { workerData } from 'node:worker_threads'
import { createScan, type ReaderOptions } from './scan.ts'

/** The function that Piscina calls in each reader thread. `workerData` is the only way to pass options to its file. */
export default createScan(workerData as ReaderOptions)

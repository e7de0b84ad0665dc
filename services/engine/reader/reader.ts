import { workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../shared/thread-priority.ts'
import { createScan, type ReaderOptions } from './scan.ts'

lowerThreadPriority()

/** The function that Piscina calls in each reader thread. `workerData` is the only way to pass options to its file. */
export default createScan(workerData as ReaderOptions)

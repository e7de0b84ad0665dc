import { workerData } from 'node:worker_threads'
import { createScan, type ReaderOptions } from './scan.ts'

/** What Piscina calls in each reader thread. It gives a worker file no other place for its options. */
export default createScan(workerData as ReaderOptions)

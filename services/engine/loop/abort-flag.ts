import { disconnected } from '../../model/errors.ts'
import type { ScanCaller } from '../database.ts'

/** Runs a scan with a flag in shared memory that is set when the client of the caller disconnects. It is undefined if the caller has no client. */
export const withAbortFlag = async <T>(
  { clientSignal }: ScanCaller,
  scan: (flag: Int32Array | undefined) => Promise<T>
): Promise<T> => {
  const signal = clientSignal?.()
  if (!signal) return scan(undefined)
  if (signal.aborted) throw disconnected()
  const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const abort = () => Atomics.store(flag, 0, 1)
  signal.addEventListener('abort', abort)
  try {
    return await scan(flag)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

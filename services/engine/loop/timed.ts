import type { OnTime } from '../database.ts'

/** Reports how long a scan that has just been sent to a reader takes. */
export const timed = async <T>(running: Promise<T>, onTime: OnTime = () => {}): Promise<T> => {
  const start = performance.now()
  try {
    return await running
  } finally {
    onTime(performance.now() - start)
  }
}

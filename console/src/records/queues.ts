/** Returns a function that runs the tasks of each key one after the other. */
const createQueues = () => {
  const tails = new Map<string, Promise<unknown>>()
  return async <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const tail = (tails.get(key) ?? Promise.resolve()).then(task, task)
    tails.set(key, tail)
    try {
      return await tail
    } finally {
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}

const enqueue = createQueues()

/** Runs a change after all earlier changes of the same record by this page. */
export const enqueueChange = <T>(tableId: number, pk: string, change: () => Promise<T>) =>
  enqueue(JSON.stringify([tableId, pk]), change)

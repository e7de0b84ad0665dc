/** Returns a function that runs the tasks of each key one after the other. A task must not fail. */
export const createQueues = () => {
  const tails = new Map<string, Promise<void>>()
  return async (key: string, task: () => Promise<void>) => {
    const tail = (tails.get(key) ?? Promise.resolve()).then(task)
    tails.set(key, tail)
    await tail
    if (tails.get(key) === tail) tails.delete(key)
  }
}

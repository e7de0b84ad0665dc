/** Returns a function that runs tasks one after the other. A task that fails does not stop the next one. */
export const createSequence = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(task: () => Promise<T>): Promise<T> => {
    const result = last.then(task)
    last = result.catch(() => {})
    return result
  }
}

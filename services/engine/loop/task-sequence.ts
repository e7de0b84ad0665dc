/**
 * Returns a function that runs tasks in sequence, each in a tick of its own, so that other work runs between large ones.
 */
export const createTaskSequence = () => {
  const tasks: (() => void)[] = []
  let isTickTaken = false
  const next = () => {
    isTickTaken = false
    const task = tasks.shift()
    if (task) run(task)
  }
  const run = (task: () => void) => {
    if (isTickTaken) return tasks.push(task)
    isTickTaken = true
    setImmediate(next)
    return task()
  }
  return run
}

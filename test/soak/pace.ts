const TICK_MS = 10

/** Calls `act` at a constant rate, without waiting for earlier calls. Resolves when all calls have ended. */
export const pace = async <T>(perSecond: number, milliseconds: number, act: (index: number) => Promise<T>) => {
  const start = performance.now()
  const calls: Promise<T>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(performance.now() - start, milliseconds)
      while (calls.length < (elapsed / 1000) * perSecond) calls.push(act(calls.length))
      if (elapsed < milliseconds) return
      clearInterval(timer)
      resolve()
    }, TICK_MS)
  })
  return Promise.all(calls)
}

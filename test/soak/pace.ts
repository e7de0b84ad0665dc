const TICK_MS = 10

/** Does something so many times a second for so long, however long each takes; resolves when all of it is done. */
export const pace = async <T>(perSecond: number, milliseconds: number, act: (index: number) => Promise<T>) => {
  const start = performance.now()
  const acts: Promise<T>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(performance.now() - start, milliseconds)
      while (acts.length < (elapsed / 1000) * perSecond) acts.push(act(acts.length))
      if (elapsed < milliseconds) return
      clearInterval(timer)
      resolve()
    }, TICK_MS)
  })
  return Promise.all(acts)
}

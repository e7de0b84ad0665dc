/**
 * Repeats an action until a measurement, which runs concurrently, has ended. The first repetition starts before the
 * measurement.
 */
export const repeatDuring = async <M, R>(repeat: () => Promise<R>, measure: () => Promise<M>) => {
  const results: R[] = []
  let isMeasuring = true
  const repeatUntilEnd = async () => {
    while (isMeasuring) results.push(await repeat())
  }
  const measureOnce = async () => {
    try {
      return await measure()
    } finally {
      isMeasuring = false
    }
  }
  const [, measured] = await Promise.all([repeatUntilEnd(), measureOnce()])
  return { measured, results }
}

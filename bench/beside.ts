/** Repeats something beside a measurement until that has ended; the first repetition starts first. */
export const beside = async <M, R>(repeat: () => Promise<R>, measure: () => Promise<M>) => {
  const results: R[] = []
  let isMeasuring = true
  const repeating = async () => {
    while (isMeasuring) results.push(await repeat())
  }
  const measuring = async () => {
    try {
      return await measure()
    } finally {
      isMeasuring = false
    }
  }
  const [, measured] = await Promise.all([repeating(), measuring()])
  return { measured, results }
}

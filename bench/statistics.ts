/** Returns the median; of an even number of values, the mean of the middle two. @throws on an empty list */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  if (upper === undefined || lower === undefined) throw new Error('An empty list has no median.')
  return (lower + upper) / 2
}

/** Returns the median of one figure of several samples. */
export const medianOf = <K extends string>(samples: readonly Readonly<Record<K, number>>[], figure: K) =>
  median(samples.map((sample) => sample[figure]))

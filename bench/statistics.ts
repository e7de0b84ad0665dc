/** The middle value; of an even number of them, the mean of the middle two. @throws on none */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  if (upper === undefined || lower === undefined) throw new Error('There is no median of nothing.')
  return (lower + upper) / 2
}

/** The median of one figure of several samples. */
export const medianOf = <K extends string>(samples: readonly Readonly<Record<K, number>>[], figure: K) =>
  median(samples.map((sample) => sample[figure]))

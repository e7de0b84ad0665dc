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

const ERROR_RATE = 0.05

/** Returns the probability that `heads` or fewer of `tosses` fair coin tosses are heads. */
const probabilityOfAtMost = (heads: number, tosses: number) => {
  let combinations = 1
  let sum = 0
  for (let count = 0; count <= heads; count++) {
    sum += combinations
    combinations = (combinations * (tosses - count)) / (count + 1)
  }
  return sum / 2 ** tosses
}

/**
 * Returns the 95 % confidence interval of the median, whatever the distribution of the values: the sign test. Of fewer than
 * six values it is their range, which is less certain.
 */
export const medianInterval = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b)
  let outside = 0
  while (2 * probabilityOfAtMost(outside + 1, sorted.length) <= ERROR_RATE) outside++
  return { lower: sorted[outside] ?? Number.NaN, upper: sorted.at(-1 - outside) ?? Number.NaN }
}

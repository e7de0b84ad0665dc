/** The seed of the random tests, which print it. `SEED=n` repeats a run. */
export const SEED = Number(process.env.SEED ?? 20_261_121)

/** Returns a Mulberry32 generator: a seed gives the same sequence on every machine. */
export const createRandom = (seed: number) => {
  let state = seed >>> 0

  /** From 0 to 1, exclusive. */
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0 to `end`, exclusive. */
  const below = (end: number) => Math.floor(fraction() * end)
  const chance = (probability: number) => fraction() < probability

  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('The list to pick from is empty.')
    return items[below(items.length)] as T
  }

  return { below, chance, pick }
}

export type Random = ReturnType<typeof createRandom>

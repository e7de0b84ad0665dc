/** Printed by each test that draws from it; `SEED=n` draws the same again. */
export const SEED = Number(process.env.SEED ?? 20_261_121)

/** Mulberry32: one seed, one sequence, on every machine. */
export const createRandom = (seed: number) => {
  let state = seed >>> 0

  /** From 0 up to, but not, 1. */
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0 up to, but not, `end`. */
  const below = (end: number) => Math.floor(fraction() * end)
  const chance = (probability: number) => fraction() < probability

  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('There is nothing to pick from.')
    return items[below(items.length)] as T
  }

  return { below, chance, pick }
}

export type Random = ReturnType<typeof createRandom>

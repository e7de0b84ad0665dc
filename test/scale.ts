/**
 * The factor for the counts of long tests: 0.02 in `npm run test:process`, 1 in `npm run test:crash`, `test:fuzz` and `test:soak`,
 * and 50 in `SCALE=50 npm run test:crash`.
 */
const SCALE = Number(process.env.SCALE ?? 0.02)

/** Returns a count at the scale of this run, at least 1. */
export const scaled = (count: number) => Math.max(1, Math.round(count * SCALE))

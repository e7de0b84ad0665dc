/**
 * How much of their full counts the long tests run: `npm test` a tenth, `npm run test:crash`, `test:fuzz` and
 * `test:soak` all of it, and `SCALE=50 npm run test:crash` fifty times as much.
 */
const SCALE = Number(process.env.SCALE ?? 0.1)

/** A full count at the scale of this run, at least 1. */
export const scaled = (count: number) => Math.max(1, Math.round(count * SCALE))

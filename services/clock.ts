/** Epoch milliseconds. */
export type Clock = () => number

/** Milliseconds since the process or thread started: they never go back, as those of a `Clock` may. */
export const uptime = () => performance.now()

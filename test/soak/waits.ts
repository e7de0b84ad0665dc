import { setTimeout as wait } from 'node:timers/promises'
import type { HttpResponse } from './http-client.ts'

export const percentile = (times: readonly number[], share: number) =>
  Number([...times].sort((a, b) => a - b)[Math.ceil(times.length * share) - 1])

/** Repeats requests until the time is over. Returns the milliseconds and the statuses. */
export const repeatUntil = async (end: number, send: () => Promise<Pick<HttpResponse, 'status'>>, pause = 0) => {
  const times: number[] = []
  const statuses = new Set<number>()
  do {
    const start = performance.now()
    const { status } = await send()
    times.push(performance.now() - start)
    statuses.add(status)
    if (pause > 0) await wait(pause)
  } while (performance.now() < end)
  return { times, statuses }
}

export const summary = (all: readonly number[]) =>
  `p50 ${percentile(all, 0.5).toFixed(0)}, p99 ${percentile(all, 0.99).toFixed(0)}, max ${Math.max(...all).toFixed(0)} ms`

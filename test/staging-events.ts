import type { Test } from 'tap'
import type { App } from './helpers.ts'

/** Calls `event` before a call of the next staging, with the number of that call from 0. Lasts until `t` ends. */
export const interrupt = (
  t: Test,
  { database }: Pick<App, 'database'>,
  method: 'store' | 'step',
  event: (call: number) => unknown
) => {
  const { stage } = database
  t.teardown(() => Object.assign(database, { stage }))
  const interrupted: typeof stage = (request) => {
    const staging = stage(request)
    let calls = 0
    const before = async () => {
      await event(calls)
      calls += 1
    }
    const store: typeof staging.store = async (plan) => {
      await before()
      return staging.store(plan)
    }
    const step: typeof staging.step = async (range) => {
      await before()
      return staging.step(range)
    }
    return { ...staging, ...(method === 'store' ? { store } : { step }) }
  }
  Object.assign(database, { stage: interrupted })
}

import { Cron } from 'croner'

/**
 * Runs `task` at the times of a cron expression that can be replaced. A time is skipped while the task of an earlier one
 * runs. `timeZone`: an IANA name, such as Europe/Paris.
 */
export const createSchedule = (timeZone: string, task: () => Promise<void>) => {
  let job: Cron | null = null
  return {
    /** Replaces the expression, which config.ts has checked. Empty: no times. */
    set: (expression: string) => {
      job?.stop()
      job = expression === '' ? null : new Cron(expression, { timezone: timeZone, protect: true, unref: true }, task)
    },
    /** Returns the first time after this one, if there is any. Tests call it. */
    next: (from: Date) => job?.nextRun(from),
    /** Runs the task now, if there is an expression. */
    trigger: async () => {
      await job?.trigger()
    },
    stop: () => job?.stop()
  }
}

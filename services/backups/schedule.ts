import { Cron } from 'croner'

interface ScheduleOptions {
  /** A cron expression of five or six parts. */
  readonly expression: string
  /** An IANA name, such as Europe/Paris. */
  readonly timeZone: string
}

/**
 * Runs `task` at the times of a cron expression. A time is skipped while the task of an earlier one runs.
 * @throws an Error that names BACKUPS if the expression or the time zone is invalid
 */
export const startSchedule = ({ expression, timeZone }: ScheduleOptions, task: () => Promise<void>) => {
  try {
    const job = new Cron(expression, { timezone: timeZone, protect: true, unref: true, paused: true }, task)
    // Fails if the time zone is unknown, or if the expression has no next time.
    if (job.nextRun() === null) throw new Error('it has no next time')
    job.resume()
    return job
  } catch (error) {
    throw new Error(
      `BACKUPS must be a cron expression such as "0 3 * * *", in a known time zone (TZ). '${expression}' in ${timeZone} is not: ${(error as Error).message}.`
    )
  }
}

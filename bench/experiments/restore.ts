import { statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { deleteBackup, isAccepted, makeBackup, restoreBackup } from '../client.ts'
import type { Context } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { alignedTable, mebibytes, milliseconds, ratio } from '../report.ts'
import { median } from '../statistics.ts'
import { CREATE_TABLE, TABLE } from '../workloads.ts'

const PROBE_MS = 20

/** Creates records until the task has ended. Returns the seconds between the first refusal and the last one. */
const secondsWithoutWrites = async (environment: Environment, task: Promise<unknown>) => {
  let isRunning = true
  const ended = task.finally(() => {
    isRunning = false
  })
  const url = `${environment.service.address}/data/${CREATE_TABLE}/records`
  const refusals: number[] = []
  while (isRunning) {
    if (!(await isAccepted(url, environment.token, { name: 'created' }))) refusals.push(performance.now())
    await delay(PROBE_MS)
  }
  await ended
  return ((refusals.at(-1) ?? 0) - (refusals[0] ?? 0)) / 1000
}

const rowOf = (name: string, seconds: number, backup: number) => [name, milliseconds(seconds), ratio(seconds / backup)]

/** Restores a backup of the whole database repeatedly. */
export const runRestore = (context: Context) =>
  withEnvironment(context, { tables: [TABLE, CREATE_TABLE], rows: context.plan.backupRows }, async (environment) => {
    const begin = performance.now()
    const name = await makeBackup(environment)
    const backup = (performance.now() - begin) / 1000
    const [totals, withoutWrites]: [number[], number[]] = [[], []]
    for (let round = 0; round < context.plan.backups; round++) {
      const start = performance.now()
      const restored = restoreBackup(environment, name)
      withoutWrites.push(await secondsWithoutWrites(environment, restored))
      totals.push((performance.now() - start) / 1000)
      await deleteBackup(environment, await restored)
    }
    return [
      `Database: ${mebibytes(statSync(environment.file).size)} MiB.`,
      alignedTable([
        ['', 'seconds', 'of the time of a backup'],
        rowOf('backup', backup, backup),
        rowOf('restore', median(totals), backup),
        rowOf('without writes during a restore', median(withoutWrites), backup)
      ])
    ].join('\n')
  })

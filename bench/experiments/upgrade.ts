import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { THIS_CHECKOUT } from '../built-service.ts'
import { type Context, withDirectory } from '../context.ts'
import { createDatabase } from '../items.ts'
import { alignedTable, mebibytes, milliseconds } from '../report.ts'
import { median } from '../statistics.ts'
import { CREATE_TABLE, TABLE } from '../workloads.ts'

/** A small database of an earlier version, with sessions, tokens and registered tables. */
const OLD = 'test/data/versions/7.db.gz'

const secondsOf = (...args: readonly string[]) => {
  const start = performance.now()
  execFileSync(process.execPath, [join(THIS_CHECKOUT, 'dist/rowhouse.js'), ...args])
  return (performance.now() - start) / 1000
}

const upgradeOnce = (directory: string, rows: number) => {
  const file = join(directory, 'old.sqlite')
  writeFileSync(file, gunzipSync(readFileSync(OLD)))
  createDatabase(file, [TABLE, CREATE_TABLE], rows)
  const size = statSync(file).size
  return { size, dryRun: secondsOf('upgrade', file, '--dry-run'), upgrade: secondsOf('upgrade', file) }
}

/** Upgrades a large database of an earlier version, with the backup before it. */
export const runUpgrade = async (context: Context) => {
  const { backups, backupRows } = context.plan
  const samples: ReturnType<typeof upgradeOnce>[] = []
  while (samples.length < backups)
    samples.push(await withDirectory(context, async (directory) => upgradeOnce(directory, backupRows)))
  return alignedTable([
    ['', 'MiB', 'seconds'],
    ['dry run', mebibytes(samples[0]?.size ?? 0), milliseconds(median(samples.map(({ dryRun }) => dryRun)))],
    ['upgrade with its backup', '', milliseconds(median(samples.map(({ upgrade }) => upgrade)))]
  ])
}

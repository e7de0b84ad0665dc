import { availableParallelism, cpus } from 'node:os'
import { CONNECTIONS, type Context, createContext, ROUND_SECONDS, withDirectory } from './context.ts'
import { measureFsync } from './disk.ts'
import { runExport } from './experiments/export.ts'
import { runLogins } from './experiments/logins.ts'
import { runShares } from './experiments/shares.ts'
import { runSlowDisk } from './experiments/slow-disk.ts'
import { runStart } from './experiments/start.ts'
import { readOptions } from './options.ts'
import { milliseconds, NOTES } from './report.ts'
import { workloads } from './workloads.ts'

const say = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`)

const experiments: Record<string, { title: string; run: (context: Context) => Promise<string> }> = {
  logins: { title: '50 logins at once', run: runLogins },
  'slow-disk': { title: '2 ms more for every fsync', run: runSlowDisk },
  export: { title: 'Export as CSV', run: runExport },
  start: { title: 'Cold start', run: runStart }
}
const shares = workloads.map(({ name }) => name)
/** Apart, since each commit empties the page cache of the connection that reads: what follows it would be slower. */
const kinds = {
  'Requests that read': workloads.filter(({ isWrite }) => !isWrite),
  'Requests that write': workloads.filter(({ isWrite }) => isWrite)
}

const introduce = ({ generator, plan, directory }: Context, fsync: number) =>
  say(
    `Node ${process.version} on ${availableParallelism()} cores (${cpus()[0]?.model}).`,
    `Load: ${generator.name}, ${CONNECTIONS} connections, ${plan.processes * plan.rounds} rounds of ${ROUND_SECONDS} s a case (processes: ${plan.processes}); medians.`,
    `Disk: ${directory}, fsync p50 ${milliseconds(fsync)} ms.`
  )

const section = (title: string, text: string) => say('', title, text)

const run = async () => {
  const options = readOptions(process.argv.slice(2), [...shares, ...Object.keys(experiments)])
  const context = createContext(options)
  const fsync = await withDirectory(context, async (directory) => measureFsync(directory))
  introduce(context, fsync)
  for (const [title, cases] of Object.entries(kinds)) {
    const wanted = cases.filter(({ name }) => options.names.includes(name))
    if (wanted.length > 0) section(title, await runShares(context, wanted, fsync))
  }
  for (const [name, { title, run }] of Object.entries(experiments)) {
    if (options.names.includes(name)) section(title, await run(context))
  }
  say('', ...NOTES)
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

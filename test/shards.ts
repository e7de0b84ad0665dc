// Which test files share a process. `npm test` runs each shard as one process: starting one and loading the service costs
// more than the tests of most files.

/** The files of a shard, with their recorded seconds. */
export interface Shard {
  readonly name: string
  readonly files: Readonly<Record<string, number>>
}

/** Recorded seconds, by the path of a test file in test/. */
export type Times = Readonly<Record<string, number>>

/** Tests that start processes, or apply load or random requests. They are in no shard: `npm run test:process` runs them. */
const PROCESS_TESTS: readonly RegExp[] = [
  /^(?:cli|crash|fuzz|scripts|soak)\//,
  /^(?:coming-from|container|day-two|deploy|documents|server|upgrade|contract\/secrets)\.test\.ts$/
]

/** Tests of other commands: they need Chromium or rqlite. */
const OTHER_TESTS = /^(?:browser|cluster|console)\//

/** Test files that cannot share a process, with the reason. */
export const ALONE: Readonly<Record<string, string>> = {
  'plugins/http/pending-requests.test.ts': 'It requires that the process emits no warning.'
}

/** A file without a recorded time. */
const UNKNOWN_SECONDS = 1
/** Length of a shard, in recorded seconds: of three shards in parallel, with coverage. */
const SECONDS_OF_A_SHARD = 100

/** Replaces the threads and processes of the engine, for a whole process: see plain-threads.ts. Tests of real ones cannot share it. */
const REPLACES_THREADS = /^plain-(?:forks|threads)\.ts$/

export const isProcessTest = (path: string) => PROCESS_TESTS.some((pattern) => pattern.test(path))

export const isInShard = (path: string) => !isProcessTest(path) && !OTHER_TESTS.test(path)

const secondsOf = (path: string, times: Times) => times[path] ?? UNKNOWN_SECONDS

/**
 * Distributes files to shards of about the same time: the slowest file first, each to the shard with the least time.
 * Returns the files of each shard.
 */
export const balance = (paths: readonly string[], times: Times, count: number): string[][] => {
  const shards = Array.from({ length: count }, () => ({ seconds: 0, paths: [] as string[] }))
  const slowestFirst = [...paths].sort((a, b) => secondsOf(b, times) - secondsOf(a, times) || (a < b ? -1 : 1))
  for (const path of slowestFirst) {
    const shard = shards.reduce((least, other) => (other.seconds < least.seconds ? other : least))
    shard.seconds += secondsOf(path, times)
    shard.paths.push(path)
  }
  return shards.map((shard) => shard.paths).filter((files) => files.length > 0)
}

/** Returns whether a module loads the replacements of threads, directly or through other modules in test/. */
export const replacesThreads = (path: string, importsOf: (path: string) => readonly string[]) => {
  const seen = new Set([path])
  for (const each of seen) for (const imported of importsOf(each)) seen.add(imported)
  return [...seen].some((each) => REPLACES_THREADS.test(each))
}

/** Returns the seconds of each file, sorted by path, from the lines of the TAP output of shards. */
export const timesIn = (lines: readonly string[]): Times => {
  const files = lines.flatMap((line) => {
    const [, path, ms] = /^ok \d+ - (\S+\.test)\.js # time=([\d.]+)ms/.exec(line) ?? []
    return path === undefined ? [] : [[`${path}.ts`, Math.round(Number(ms) / 100) / 10] as const]
  })
  return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)))
}

interface Plan {
  /** All test files, relative to test/. */
  readonly paths: readonly string[]
  readonly times: Times
  /** The modules in test/ that a module imports, relative to test/. */
  readonly importsOf: (path: string) => readonly string[]
}

/** Returns the shards of `npm test`. */
export const planShards = ({ paths, times, importsOf }: Plan): Shard[] => {
  const groups: Record<string, string[]> = {}
  const add = (group: string, path: string) => {
    groups[group] = [...(groups[group] ?? []), path]
  }
  for (const path of paths) {
    if (!isInShard(path)) continue
    if (path in ALONE) add(`alone-${path.replaceAll(/\W+/g, '-')}`, path)
    else add(replacesThreads(path, importsOf) ? 'app' : 'modules', path)
  }
  return Object.entries(groups).flatMap(([group, members]) => {
    const seconds = members.reduce((sum, path) => sum + secondsOf(path, times), 0)
    const shards = balance(members, times, Math.max(1, Math.ceil(seconds / SECONDS_OF_A_SHARD)))
    return shards.map((shard, index) => ({
      name: `${group}-${index + 1}`,
      files: Object.fromEntries(shard.map((path) => [path, secondsOf(path, times)]))
    }))
  })
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// Requires that tests cover each line, branch and function of each source. With --of-shards, as in `npm test`, it leaves
// out the sources that only `npm run test:process` covers.

/** The output of `tap report lcovonly`, relative to the working directory. */
const REPORT = '.tap/report/lcov.info'

const COMPILED = 'build'

/** The sources that only `npm run test:process` covers: a JSON array of files, and of folders with a slash at the end. */
const PROCESS_SOURCES = 'test/process-sources.json'

/** Tests and benchmarks are not covered by tests. The console is tested in a browser, where coverage is not measured. */
const isSource = (path: string) => path.endsWith('.js') && !/^(?:test|bench|console)\//.test(path)

/** A compiled module that contains only types has no other statement. */
const hasCode = (code: string) => code.replace(/^\s*\/\/.*$/gm, '').trim() !== 'export {};'

/** Lines such as `DA:12,0`, `BRDA:12,3,0,0` and `FNDA:0,read`, which count no execution. */
const UNCOVERED = /^(?:DA:(?<line>\d+),0|BRDA:(?<branch>\d+),.*,[0-]|FNDA:0,(?<name>.*))$/gm

const describe = ({ line, branch, name }: Partial<Record<string, string>>) => {
  if (name !== undefined) return `function ${name}`
  return line === undefined ? `a branch in line ${branch}` : `line ${line}`
}

/** Returns what is not covered in each source of the report, by the path of the source. */
const readReport = () =>
  new Map(
    readFileSync(REPORT, 'utf8')
      .split('end_of_record\n')
      .filter((record) => record.includes('SF:'))
      .map((record) => [
        String(/^SF:(.+)$/m.exec(record)?.[1]),
        [...record.matchAll(UNCOVERED)].map(({ groups = {} }) => describe(groups))
      ])
  )

const excluded: readonly string[] = process.argv.includes('--of-shards')
  ? JSON.parse(readFileSync(PROCESS_SOURCES, 'utf8'))
  : []
const isRequired = (path: string) =>
  !excluded.some((entry) => (entry.endsWith('/') ? path.startsWith(entry) : path === entry))
const report = readReport()

// tap reports only files that a test loads. A file that no test loads is missing from the report.
const missing = readdirSync(COMPILED, { recursive: true, encoding: 'utf8' })
  .filter((path) => isSource(path) && hasCode(readFileSync(join(COMPILED, path), 'utf8')))
  .map((path) => path.replace(/\.js$/, '.ts'))
  .filter((path) => !report.has(path) && isRequired(path))
const incomplete = [...report].filter(([path, uncovered]) => uncovered.length > 0 && isRequired(path))

const problems = [
  ...(missing.length > 0 ? [`No test loads ${missing.sort().join(', ')}.`] : []),
  ...incomplete.map(([path, uncovered]) => `No test covers ${path}: ${uncovered.join(', ')}.`)
]
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`)
  process.exitCode = 1
}

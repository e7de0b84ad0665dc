import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The output of `tap report lcovonly`, relative to the working directory. */
const REPORT = '.tap/report/lcov.info'

/** Tests and benchmarks are not covered by tests. The console is tested in a browser, where coverage is not measured. */
const isSource = (path: string) => path.endsWith('.js') && !/^(?:test|bench|console)\//.test(path)

/** A compiled module that contains only types has no other statement. */
const hasCode = (code: string) => code.replace(/^\s*\/\/.*$/gm, '').trim() !== 'export {};'

// tap reports only files that a test loads. A file that no test loads is missing from the report.
const [compiled = 'build'] = process.argv.slice(2)
const reported = new Set(readFileSync(REPORT, 'utf8').match(/(?<=^SF:).+$/gm))
const missing = readdirSync(compiled, { recursive: true, encoding: 'utf8' })
  .filter((path) => isSource(path) && hasCode(readFileSync(join(compiled, path), 'utf8')))
  .map((path) => path.replace(/\.js$/, '.ts'))
  .filter((path) => !reported.has(path))

if (missing.length > 0) {
  process.stderr.write(`No test loads ${missing.sort().join(', ')}.\n`)
  process.exitCode = 1
}

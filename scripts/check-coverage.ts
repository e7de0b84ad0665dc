import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `tap report lcovonly` writes, below the directory that the script is started in. */
const REPORT = '.tap/report/lcov.info'

/** Tests and benchmarks need no tests of their own. */
const isSource = (path: string) => path.endsWith('.js') && !/^(?:test|bench)\//.test(path)

/** A module of types only leaves nothing to run. */
const runs = (code: string) => code.replace(/^\s*\/\/.*$/gm, '').trim() !== 'export {};'

const readReport = () => {
  try {
    return readFileSync(REPORT, 'utf8')
  } catch {
    return ''
  }
}

// tap counts the files that some test has loaded: one that none loads is missing from the report, not red in it.
const [compiled = 'build'] = process.argv.slice(2)
const reported = new Set(readReport().match(/(?<=^SF:).+$/gm))
const missing = readdirSync(compiled, { recursive: true, encoding: 'utf8' })
  .filter((path) => isSource(path) && runs(readFileSync(join(compiled, path), 'utf8')))
  .map((path) => path.replace(/\.js$/, '.ts'))
  .filter((path) => !reported.has(path))

if (missing.length > 0) {
  process.stderr.write(`No test loads ${missing.sort().join(', ')}.\n`)
  process.exitCode = 1
}

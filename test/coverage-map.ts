import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const COMPILED = 'build'

/** Every source may be covered by any test. Tests, their helpers and benchmarks are no sources. */
const sources = readdirSync(COMPILED, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.js') && !/^(?:test|bench)\//.test(path))
  .map((path) => join(COMPILED, path))

/** Their course is a matter of chance, so nothing may be covered by them alone; to measure it would only slow them down. */
const LONG = /^build\/test\/(?:crash|fuzz|soak)\//

/** Asked by tap for each test file: see `coverage-map` in package.json. */
export default (testFile: string) => (LONG.test(testFile) ? null : sources)

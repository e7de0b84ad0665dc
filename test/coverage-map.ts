import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const COMPILED = 'build'

/** Any test may cover any source. Tests, their helpers and benchmarks are not sources. */
const sources = readdirSync(COMPILED, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.js') && !/^(?:test|bench)\//.test(path))
  .map((path) => join(COMPILED, path))

/** These tests are random: no line may be covered by them alone. Measuring coverage would also slow them down. */
const RANDOM_TESTS = /^build\/test\/(?:crash|fuzz|soak)\//

/** Returns the sources that a test file may cover. tap calls it: see `coverage-map` in package.json. */
export default (testFile: string) => (RANDOM_TESTS.test(testFile) ? null : sources)

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const COMPILED = 'dist'

/** Every source may be covered by any test. Tests, their helpers and benchmarks are no sources. */
const sources = readdirSync(COMPILED, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.js') && !/^(?:test|bench)\//.test(path))
  .map((path) => join(COMPILED, path))

/** Asked by tap for each test file: see `coverage-map` in package.json. */
export default () => sources

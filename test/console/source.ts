import { join } from 'node:path'
import { build } from 'esbuild'
import type { Test } from 'tap'
import { temporaryDirectory } from '../helpers.ts'

/**
 * Loads a file of the console's sources. For files that cannot be imported: what they import has types of the browser,
 * which the tests are compiled without.
 */
export const loadSource = async <T>(t: Test, path: string): Promise<T> => {
  const outfile = join(temporaryDirectory(t), 'source.mjs')
  await build({ entryPoints: [join('console/src', path)], outfile, bundle: true, format: 'esm', logLevel: 'error' })
  return import(outfile) as Promise<T>
}

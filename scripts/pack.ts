// `npm run pack` makes the package that is installed, such as rowhouse-0.1.0.tgz. Options are those of `npm pack`, such as
// `npm run pack -- --pack-destination FOLDER`. The package is packed in a temporary folder, because it has a package.json
// of its own: only packages with native code are dependencies, the bundle contains all others.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUNDLED, type BundledPackage, licensesText } from './licenses.ts'
import { NATIVE_PACKAGES } from './native-packages.ts'

/** Source maps, what only the build and a release need, earlier packages, and the compile cache of earlier starts. */
const NOT_PACKED = /(?:\.(?:json|map|tgz)|\/compile-cache)$/

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

const { files, ...source } = readJson('package.json')

const versionOf = (name: string): string => readJson(join('node_modules', name, 'package.json')).version

/** With the versions that were tested: npm ignores the lock file of a package. */
const packageJson = {
  name: source.name,
  version: source.version,
  description: source.description,
  license: source.license,
  type: source.type,
  bin: source.bin,
  engines: source.engines,
  dependencies: Object.fromEntries(NATIVE_PACKAGES.map((name) => [name, versionOf(name)]))
}

/** Writes the contents of the package into a folder. */
const writePackage = (folder: string) => {
  for (const path of ['LICENSE', 'README.md', ...files])
    cpSync(path, join(folder, path), { recursive: true, filter: (file) => !NOT_PACKED.test(file) })
  const bundled: BundledPackage[] = BUNDLED.flatMap(readJson)
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.md'), licensesText(bundled))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packageJson, null, 2)}\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'rowhouse-pack-'))
try {
  writePackage(folder)
  const { status } = spawnSync('npm', ['pack', folder, ...process.argv.slice(2)], { stdio: 'inherit' })
  process.exitCode = status === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}

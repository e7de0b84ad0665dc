import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package that is in a bundle, as Vite writes it with `build.license`. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** The SPDX identifier. */
  readonly identifier: string
  /** The texts of its license files. */
  readonly text: string
}

/** The build writes the packages in the bundles of the service and of the console into these files. */
export const BUNDLED = ['dist/licenses.json', 'dist/console/licenses.json']

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i

/** Matches the folder of the innermost package that has the module. */
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

const describe = (folder: string): BundledPackage => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file))
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n')
  return { name, version, identifier: license, text }
}

/** Returns the packages of these modules, in the order of their names. */
export const packagesOf = (modules: readonly string[]) => {
  const folders = modules.flatMap((path) => PACKAGE_FOLDER.exec(path) ?? [])
  return [...new Set(folders)].map(describe).sort((a, b) => (a.name < b.name ? -1 : 1))
}

const section = ({ name, version, identifier, text }: BundledPackage) =>
  `## ${name} ${version} (${identifier})\n${text && `\n${text}\n`}`

/** Returns the file with the licenses of all packages in a bundle. */
export const licensesText = (packages: readonly BundledPackage[]) =>
  `# Licenses of other packages\n\nThe files in dist contain code of these packages.\n\n${packages.map(section).join('\n')}`

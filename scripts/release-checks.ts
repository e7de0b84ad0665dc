/** The checks of a release. Each function returns a sentence about a problem, with what to do, or null. */

export const treeProblem = (status: string, branch: string) => {
  if (branch !== 'main') return `The branch is ${branch}. Check out main.`
  return status === '' ? null : `These files are not committed:\n${status}\nCommit or remove them.`
}

export const changelogProblem = (changelog: string, version: string) =>
  changelog.split('\n').some((line) => line.startsWith(`## [${version}] - `))
    ? null
    : `CHANGELOG.md has no entry for ${version}. Write '## [${version}] - ' with the date above its entries.`

/** `found`: the version in each place. */
export const versionProblem = (found: Readonly<Record<string, string | undefined>>, version: string) => {
  const wrong = Object.entries(found).filter(([, other]) => other !== version)
  if (wrong.length === 0) return null
  const places = wrong.map(([place, other]) => `${place} has ${other}`).join(', ')
  return `${places}. Set ${version} there, run npm install --package-lock-only and npm run openapi, and commit.`
}

const NEEDED_FILES = [
  'dist/rowhouse.js',
  'dist/main.js',
  'dist/writer/writer.js',
  'dist/console/index.html',
  'THIRD-PARTY-LICENSES.md'
]

/** `paths`: of the files in the package. */
export const packProblem = (paths: readonly string[]) => {
  const missing = NEEDED_FILES.filter((path) => !paths.includes(path))
  if (missing.length === 0) return null
  return `The package has no ${missing.join(', ')}. Run npm run build, and check "files" in package.json.`
}

interface Component {
  readonly name: string
  /** Name and version. */
  readonly 'bom-ref': string
}

/** The parts of a CycloneDX document that are used: https://cyclonedx.org/docs/1.5/json/ */
export interface Sbom {
  readonly bomFormat: string
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** Returns these refs and all that they depend on. */
const withDependencies = (refs: readonly string[], { dependencies }: Sbom) => {
  const reached = new Set(refs)
  // The loop also visits the refs that it adds.
  for (const ref of reached)
    for (const next of dependencies.filter((one) => one.ref === ref).flatMap(({ dependsOn }) => dependsOn))
      reached.add(next)
  return reached
}

/** Keeps what the package contains and installs. `npm sbom` also lists packages for development. */
export const sbomOfPackage = (
  sbom: Sbom,
  bundled: readonly { readonly name: string; readonly version: string }[],
  installed: readonly string[]
): Sbom => {
  const installedRefs = sbom.components.filter(({ name }) => installed.includes(name)).map((one) => one['bom-ref'])
  const kept = withDependencies(installedRefs, sbom)
  for (const { name, version } of bundled) kept.add(`${name}@${version}`)
  const removed = new Set(sbom.components.map((one) => one['bom-ref']).filter((ref) => !kept.has(ref)))
  const isKept = (ref: string) => !removed.has(ref)
  return {
    ...sbom,
    components: sbom.components.filter((component) => isKept(component['bom-ref'])),
    dependencies: sbom.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) }))
  }
}

/** `packages`: such as `ajv@8.0.0`. */
export const sbomProblem = ({ bomFormat, components }: Sbom, packages: readonly string[]) => {
  if (bomFormat !== 'CycloneDX') return 'npm sbom did not write a CycloneDX document. Check the version of npm.'
  const refs = new Set(components.map((component) => component['bom-ref']))
  const missing = packages.filter((ref) => !refs.has(ref))
  return missing.length === 0 ? null : `The SBOM does not name ${missing.join(', ')}. Run npm ci.`
}

/** The parts of `npm audit --json` that are checked. Without a version, the registry could not be reached. */
export interface AuditReport {
  readonly auditReportVersion?: number
  readonly vulnerabilities?: Readonly<Record<string, { readonly via: readonly (string | { readonly url: string })[] }>>
}

/**
 * Returns the ids of the advisories on these packages, such as GHSA-…. A package that is only affected through another one
 * names that.
 */
const advisoriesOf = ({ vulnerabilities = {} }: AuditReport, packages: ReadonlySet<string>) => {
  const own = Object.entries(vulnerabilities).filter(([name]) => packages.has(name))
  const sources = own.flatMap(([, { via }]) => via)
  const urls = sources.flatMap((source) => (typeof source === 'string' ? [] : [source.url]))
  return [...new Set(urls.map((url) => url.slice(url.lastIndexOf('/') + 1)))]
}

/** `explained`: the ids of the advisories that do not concern us. `packages`: the names of those in the package. */
export const auditProblem = (report: AuditReport, explained: readonly string[], packages: readonly string[]) => {
  if (report.auditReportVersion === undefined)
    return 'The registry cannot be reached. Run this with a network, or check the advisories yourself and add --offline.'
  const open = advisoriesOf(report, new Set(packages)).filter((id) => !explained.includes(id))
  if (open.length === 0) return null
  return `npm audit reports ${open.join(', ')}. Update the packages, or explain in .ci/advisories.json why they do not concern Rowhouse.`
}

import t from 'tap'
import {
  auditProblem,
  changelogProblem,
  packProblem,
  sbomOfPackage,
  sbomProblem,
  treeProblem,
  versionProblem
} from '../../scripts/release-checks.ts'

t.test('a release is of a clean tree of main', async (t) => {
  t.equal(treeProblem('', 'main'), null)
  t.match(treeProblem('?? notes.txt', 'main'), /not committed:\n\?\? notes\.txt\nCommit or remove them/)
  t.match(treeProblem('', 'try'), /The branch is try\. Check out main/)
})

t.test('the changelog has an entry with a date', async (t) => {
  t.equal(changelogProblem('# Changelog\n\n## [0.2.0] - 2026-12-01\n', '0.2.0'), null)
  t.match(changelogProblem('## [Unreleased]\n\n## [0.2.01] - 2026-12-01\n', '0.2.0'), /no entry for 0\.2\.0/)
})

t.test('each place with another version is named', async (t) => {
  t.equal(versionProblem({ a: '0.2.0', b: '0.2.0' }, '0.2.0'), null)
  t.match(
    versionProblem({ a: '0.2.0', b: '0.1.0', c: undefined }, '0.2.0'),
    /^b has 0\.1\.0, c has undefined\. Set 0\.2\.0/
  )
})

t.test('the package has the program, its threads, the console and the licenses', async (t) => {
  const files = [
    'THIRD-PARTY-LICENSES.md',
    'dist/console/index.html',
    'dist/main.js',
    'dist/rowhouse.js',
    'dist/writer/writer.js'
  ]
  t.equal(packProblem(files), null)
  for (const missing of files)
    t.match(packProblem(files.filter((file) => file !== missing)), `The package has no ${missing}. Run npm run build`)
})

const component = (name: string) => ({ name, 'bom-ref': `${name}@1.0.0` })

t.test('the SBOM is CycloneDX and names each dependency', async (t) => {
  const sbom = { bomFormat: 'CycloneDX', components: [component('ajv')], dependencies: [] }
  t.equal(sbomProblem(sbom, ['ajv@1.0.0']), null)
  t.match(sbomProblem(sbom, ['ajv@1.0.0', '@fastify/cors@1.0.0']), /does not name @fastify\/cors@1\.0\.0\./)
  t.match(sbomProblem(sbom, ['ajv@2.0.0']), /does not name ajv@2\.0\.0\./, 'another version')
  t.match(sbomProblem({ ...sbom, bomFormat: 'SPDX' }, []), /did not write a CycloneDX document/)
})

t.test('the SBOM has the packages in the bundle, and those that are installed with all that they need', async (t) => {
  const names = ['ajv', 'react', 'tap', 'argon2', 'node-gyp-build']
  const dependencies = [
    { ref: 'rowhouse@0.2.0', dependsOn: ['ajv@1.0.0', 'argon2@1.0.0', 'tap@1.0.0'] },
    { ref: 'tap@1.0.0', dependsOn: ['ajv@1.0.0'] },
    { ref: 'argon2@1.0.0', dependsOn: ['node-gyp-build@1.0.0'] },
    { ref: 'ajv@1.0.0', dependsOn: ['tap@1.0.0'] }
  ]
  const sbom = { bomFormat: 'CycloneDX', components: names.map(component), dependencies }
  const bundled = ['ajv', 'react'].map((name) => ({ name, version: '1.0.0' }))
  const kept = sbomOfPackage(sbom, bundled, ['argon2'])
  t.strictSame(
    kept.components.map(({ name }) => name),
    ['ajv', 'react', 'argon2', 'node-gyp-build']
  )
  t.strictSame(kept.dependencies, [
    { ref: 'rowhouse@0.2.0', dependsOn: ['ajv@1.0.0', 'argon2@1.0.0'] },
    { ref: 'argon2@1.0.0', dependsOn: ['node-gyp-build@1.0.0'] },
    { ref: 'ajv@1.0.0', dependsOn: [] }
  ])
})

t.test('an advisory is explained, or named', async (t) => {
  const advisory = { url: 'https://github.com/advisories/GHSA-1111' }
  const report = { auditReportVersion: 2, vulnerabilities: { ajv: { via: [advisory] }, fastify: { via: ['ajv'] } } }
  t.equal(auditProblem(report, ['GHSA-1111'], ['ajv']), null)
  t.match(auditProblem(report, ['GHSA-2222'], ['ajv']), /npm audit reports GHSA-1111\. Update/)
  t.equal(auditProblem(report, [], ['fastify']), null, 'the package does not contain ajv')
  t.equal(auditProblem({ auditReportVersion: 2 }, [], ['ajv']), null)
})

t.test('advisories that could not be read are a problem', async (t) => {
  t.match(auditProblem({}, [], ['ajv']), /^The registry cannot be reached/)
})

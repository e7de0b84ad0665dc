import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

// `npm run test:fake-cluster` runs the tests of the routes, the fuzz tests and the model on a fake cluster.

const TESTS = 'build/test'

/** Tests that run on a file only, with the reason. */
const ON_FILE_ONLY: Readonly<Record<string, string>> = {
  'routes/backups.test.js': 'The backups of a cluster are those of rqlite.',
  'routes/restore.test.js': 'rqlite restores a cluster.',
  'routes/admin/stored-grants.test.js': 'Another program changes the file.',
  'fuzz/raw.test.js': 'It tests the HTTP server, which is the same on both engines.',
  'fuzz/schemathesis.test.js': 'fuzz/requests.test.js sends such requests, too.'
}

const testsIn = (folder: string) =>
  readdirSync(join(TESTS, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.js'))
    .map((path) => join(folder, path))

const files = ['routes', 'fuzz']
  .flatMap(testsIn)
  .filter((path) => !(path in ON_FILE_ONLY))
  .map((path) => join(TESTS, path))

for (const [path, reason] of Object.entries(ON_FILE_ONLY)) console.log(`Not on a cluster: ${path}. ${reason}`)
const args = ['tap', 'run', '--disable-coverage', '--jobs=2', ...files]
const { status } = spawnSync('npx', args, { stdio: 'inherit', env: { ...process.env, ENGINE: 'rqlite' } })
process.exitCode = status ?? 1

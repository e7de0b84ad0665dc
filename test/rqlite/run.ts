import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

// `npm run test:fake-cluster` runs tests of the routes and the model on a fake cluster: those that write or page, because
// there the engines differ. With --all, it runs all tests of the routes and all fuzz tests that a cluster can pass.

const TESTS = 'build/test'

/** Tests that write or read pages, in batches, imports, retries, under roles and after changes of the schema. */
const WRITE_OR_PAGE: readonly string[] = [
  'routes/atomic-import.test.js',
  'routes/batch.test.js',
  'routes/batch-totals.test.js',
  'routes/conflict-clauses.test.js',
  'routes/cursor-bytes.test.js',
  'routes/data.test.js',
  'routes/export.test.js',
  'routes/import.test.js',
  'routes/import-rights.test.js',
  'routes/import-steps.test.js',
  'routes/lost-updates.test.js',
  'routes/moved-keys.test.js',
  'routes/query.test.js',
  'routes/retries.test.js',
  'routes/retry-receipts.test.js',
  'routes/role-fields.test.js',
  'routes/row-rules.test.js',
  'routes/size-limits.test.js',
  'routes/trigger-totals.test.js',
  'routes/upsert.test.js',
  'routes/admin/from-file.test.js',
  'routes/admin/import.test.js',
  'routes/admin/import-log.test.js',
  'routes/admin/records.test.js',
  'routes/admin/roles.test.js',
  'routes/admin/search-index.test.js',
  'routes/admin/structure.test.js',
  'routes/admin/tables.test.js',
  'routes/views/views.test.js',
  'fuzz/import.test.js',
  'fuzz/model/model.test.js',
  'fuzz/queries.test.js',
  'fuzz/role-rules.test.js'
]

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

const findAll = () => {
  for (const [path, reason] of Object.entries(ON_FILE_ONLY)) console.log(`Not on a cluster: ${path}. ${reason}`)
  return ['routes', 'fuzz'].flatMap(testsIn).filter((path) => !(path in ON_FILE_ONLY))
}

/** The build keeps the output of a test that was removed. */
const hasSource = (path: string) => existsSync(join('test', path.replace(/\.js$/, '.ts')))

const run = (tests: readonly string[]) => {
  const args = ['tap', 'run', '--disable-coverage', '--jobs=2', ...tests.map((path) => join(TESTS, path))]
  return spawnSync('npx', args, { stdio: 'inherit', env: { ...process.env, ENGINE: 'rqlite' } }).status ?? 1
}

const missing = [...WRITE_OR_PAGE, ...Object.keys(ON_FILE_ONLY)].filter((path) => !hasSource(path))
if (missing.length > 0) {
  console.error(`There is no test ${missing.join(', ')}. Correct the lists in test/rqlite/run.ts.`)
  process.exitCode = 1
} else {
  process.exitCode = run(process.argv.includes('--all') ? findAll() : WRITE_OR_PAGE)
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { LATEST_VERSION } from '../../services/engine/writer/migrations.ts'
import { asAdmin, createDatabase, createTable, dataOf, prepareFile, startApp, temporaryDirectory } from '../helpers.ts'
import { contentOf, copyOldDatabase, oldDatabases } from '../old-databases.ts'
import { runCommand, SHOP } from './command.ts'

const STATE =
  /^The tables of Rowhouse have version 7 of \d+\. The next start changes .*_rowhouse_audit, .*_rowhouse_imports/

t.test('upgrade --dry-run shows what would change, tries it, and changes nothing', async (t) => {
  const file = copyOldDatabase(t, { version: 7 })
  const before = readFileSync(file)
  const { code, stdout } = await runCommand(['upgrade', file, '--dry-run'])
  t.equal(code, 0)
  const [state, tried] = stdout.split('\n')
  t.match(state, STATE)
  t.equal(tried, 'This was tried on a copy of the tables of Rowhouse in memory.')
  const { stdout: json } = await runCommand(['upgrade', file, '--dry-run', '--json'])
  t.match(JSON.parse(json), { version: 7, latestVersion: LATEST_VERSION, upgrade: /_rowhouse_audit/ })
  t.ok(readFileSync(file).equals(before))
})

for (const { version } of oldDatabases) {
  t.test(`upgrade --dry-run succeeds for version ${version}`, async (t) => {
    const { code, stdout } = await runCommand(['upgrade', copyOldDatabase(t, { version }), '--dry-run', '--json'])
    t.equal(code, 0)
    t.match(JSON.parse(stdout), { version })
  })
}

t.test('upgrade --dry-run succeeds with a search index', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  dataOf(await admin.put(`/admin/tables/${id}`, { searchIndex: true }))
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom' }))
  const file = join(app.config.DATA_DIR, 'rowhouse.db')
  const tried = await runCommand(['upgrade', file, '--dry-run'])
  t.match(tried, { code: 0, stdout: 'The tables of Rowhouse are up to date.\n' })
})

t.test('upgrade makes a backup, migrates, and ends', async (t) => {
  const file = copyOldDatabase(t, { version: 7 })
  const before = contentOf(file)
  const directory = ['--data-dir', temporaryDirectory(t)]
  const { code, stdout } = await runCommand(['upgrade', file, ...directory])
  t.equal(code, 0)
  const [, backup = ''] =
    /^Upgraded the tables of Rowhouse from version 7 to \d+\. The backup from before is (.*-before-upgrade\.db)\.\n$/.exec(
      stdout
    ) ?? []
  t.ok(contentOf(backup).equals(before))

  const again = await runCommand(['upgrade', file, ...directory])
  t.match(again, { code: 0, stdout: 'The tables of Rowhouse are up to date.\n' })
  const { stdout: json } = await runCommand(['upgrade', file, ...directory, '--json'])
  t.strictSame(JSON.parse(json), { version: LATEST_VERSION, latestVersion: LATEST_VERSION, upgrade: [], backup: null })
})

t.test('upgrade fails while a service runs, and --dry-run succeeds', async (t) => {
  const app = await startApp(t)
  const file = join(app.config.DATA_DIR, 'rowhouse.db')
  const refused = await runCommand(['upgrade', file, '--data-dir', app.config.DATA_DIR])
  t.match(refused, { code: 1, stdout: '', stderr: /Another Rowhouse serves .*rowhouse\.db\. Stop it first/ })
  const tried = await runCommand(['upgrade', file, '--dry-run'])
  t.match(tried, { code: 0, stdout: 'The tables of Rowhouse are up to date.\n' })
})

t.test('upgrade adds nothing to a file without tables of Rowhouse', async (t) => {
  const file = createDatabase(t, SHOP)
  const before = readFileSync(file)
  const { code, stdout } = await runCommand(['upgrade', file])
  t.equal(code, 0)
  t.match(stdout, /^The file has no tables of Rowhouse\. The next start changes .*_rowhouse_admins, /)
  t.ok(readFileSync(file).equals(before))
})

t.test('upgrade finds a migration that fails before the file is changed', async (t) => {
  const file = copyOldDatabase(t, { version: 7 })
  prepareFile(file, 'CREATE TABLE _rowhouse_imports (x)')
  const before = readFileSync(file)
  for (const options of [[], ['--dry-run']]) {
    t.match(await runCommand(['upgrade', file, ...options]), {
      code: 1,
      stdout: '',
      stderr: /The upgrade from version 7 to \d+ would fail: table _rowhouse_imports already exists\. The file was not/
    })
  }
  t.ok(readFileSync(file).equals(before))
})

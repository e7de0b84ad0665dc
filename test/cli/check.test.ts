import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { asAdmin, createDatabase, importTable, prepareFile, temporaryDirectory } from '../helpers.ts'
import { copyOldDatabase } from '../old-databases.ts'
import { runCommand, SHOP, startLocalService } from './command.ts'

t.test('a file that does not exist, and a directory, are named', async (t) => {
  const directory = temporaryDirectory(t)
  for (const command of ['check', 'upgrade'])
    for (const path of [directory, join(directory, 'missing.sqlite')])
      t.match(await runCommand([command, path]), { code: 1, stderr: `COMMAND_FAILED: There is no file ${path}.\n` })
})

t.test('check reports what a first start changes, and changes nothing itself', async (t) => {
  const file = createDatabase(t, SHOP)
  const before = readFileSync(file)
  const { code, stdout } = await runCommand(['check', file])
  t.equal(code, 0)
  t.match(
    stdout,
    /^No problems\.\nThe file has no tables of Rowhouse\. The next start changes .*_rowhouse_admins, .*_rowhouse_tokens/
  )
  t.ok(readFileSync(file).equals(before))
})

t.test('check of a served file asks the service for unusable tables', async (t) => {
  const { app, file, directory } = await startLocalService(t)
  await importTable(await asAdmin(app), 'products')
  const sound = await runCommand(['check', file, ...directory])
  t.match(sound, { code: 0, stdout: 'No problems.\nThe tables of Rowhouse are up to date.\n' })
  await app.close()
  prepareFile(file, 'DROP TABLE products')
  const broken = await runCommand(['check', file, ...directory, '--json'])
  t.match(broken, { code: 1, stderr: /The check has found 1 problems/ })
  t.match(JSON.parse(broken.stdout), {
    damage: null,
    broken: [],
    unusable: [{ name: 'products', reason: /./ }],
    upgrade: []
  })
})

t.test('check names foreign keys, views and triggers that are broken', async (t) => {
  const file = createDatabase(
    t,
    `PRAGMA foreign_keys = OFF; CREATE TABLE shops (id INTEGER PRIMARY KEY);
     CREATE TABLE sales (id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shops); INSERT INTO sales VALUES (1, 9), (2, 9);
     CREATE TABLE gone (x); CREATE VIEW old AS SELECT x FROM gone;
     CREATE TRIGGER log AFTER INSERT ON shops BEGIN INSERT INTO gone VALUES (1); END; DROP TABLE gone`
  )
  const { code, stdout } = await runCommand(['check', file])
  t.equal(code, 1)
  t.match(stdout.split('\n'), [
    "2 rows of 'sales' have a foreign key that refers to no row.",
    /^The view 'old' does not compile: no such table: .*gone\.$/,
    /^The trigger 'log' does not compile: no such table: .*gone\.$/
  ])
})

t.test('check of an older file names what the upgrade changes', async (t) => {
  const { stdout } = await runCommand(['check', copyOldDatabase(t, { version: 7 })])
  t.match(stdout, /The tables of Rowhouse have version 7 of \d+\. The next start changes .*_rowhouse_imports/)
})

t.test('check reports damage, and a file of a newer version', async (t) => {
  const file = createDatabase(t, `${SHOP}; CREATE INDEX titles ON products (title)`)
  const db = new BetterSqlite3(file)
  const page = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'titles'").pluck().get())
  const size = Number(db.pragma('page_size', { simple: true }))
  db.close()
  const bytes = readFileSync(file)
  bytes.fill(0xff, (page - 1) * size + 8, (page - 1) * size + 64)
  writeFileSync(file, bytes)
  t.match(await runCommand(['check', file]), { code: 1, stdout: /^The file is damaged: / })

  const newer = createDatabase(
    t,
    "CREATE TABLE _rowhouse_meta (key TEXT, value ANY); INSERT INTO _rowhouse_meta VALUES ('version', 99)"
  )
  t.match(await runCommand(['check', newer]), { code: 1, stdout: '', stderr: /was last used by a newer Rowhouse/ })
})

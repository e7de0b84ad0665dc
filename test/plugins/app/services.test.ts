import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { selectSchemaVersion } from '../../../services/tables/registry/table-statements.ts'
import { createTable, startTokenApp } from '../../token-app.ts'

t.test('an external commit during the close logs no error', async (t) => {
  const lines: string[] = []
  const { app, file } = await startTokenApp(t, { onLog: (line) => lines.push(line) })
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  external.exec('CREATE TABLE late (id INTEGER PRIMARY KEY)')
  await app.close()
  t.strictSame(lines, [])
})

t.test('tables are reloaded once at a time, and again after an external commit during a reload', async (t) => {
  const { app, file } = await startTokenApp(t)
  await createTable(app, 'cats')
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  const { database } = app
  const read = database.read
  let isOpen = false
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const loads: string[] = []
  database.read = async (statement) => {
    if (/FROM _rowhouse_tables\b/.test(statement.sql)) loads.push(statement.sql)
    if (!isOpen && statement.sql === selectSchemaVersion(database.dialect).sql) await opened
    return read(statement)
  }
  /** Each write batch looks for external commits. */
  const detectCommit = () => database.write([])
  for (const label of ['first', 'second', 'third']) {
    external.prepare("UPDATE _rowhouse_tables SET label = ? WHERE name = 'cats'").run(label)
    await detectCommit()
  }
  isOpen = true
  open()
  while (loads.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(loads.length, 2)
  t.equal(app.tables.find('cats')?.label, 'third')
})

t.test('a build of a search index that fails is logged once', async (t) => {
  const lines: string[] = []
  const { app } = await startTokenApp(t, { onLog: (line) => lines.push(line) })
  const { id } = await createTable(app, 'cats')
  const { scan } = app.database
  let failures = 0
  app.database.scan = async (statement, caller) => {
    if (!/sum\(width\)/.test(statement.sql)) return scan(statement, caller)
    failures += 1
    throw new Error('broken')
  }
  await app.tables.update(serviceCaller, id, { searchIndex: true })
  while (failures < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  await app.close()
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ msg: 'The search index could not be built. Retrying.', table: 'cats', err: { message: 'broken' } }]
  )
  t.equal(lines.length, 1)
})

import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { createTable, startTokenApp } from '../../token-app.ts'

t.test('what another program commits while the service stops is no error', async (t) => {
  const lines: string[] = []
  const { app, file } = await startTokenApp(t, { onLog: (line) => lines.push(line) })
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  other.exec('CREATE TABLE theirs (id INTEGER PRIMARY KEY)')
  await app.close()
  t.strictSame(lines, [])
})

t.test('however often another program commits, tables are read anew once at a time, and to the end', async (t) => {
  const { app, file } = await startTokenApp(t)
  await createTable(app, 'cats')
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  const { database } = app
  const read = database.read
  let isOpen = false
  let waiting = () => {}
  const opened = new Promise<void>((resolve) => {
    waiting = resolve
  })
  const loads: string[] = []
  database.read = async (statement) => {
    if (/FROM _rowhouse_tables\b/.test(statement.sql)) loads.push(statement.sql)
    if (!isOpen && statement.sql === 'PRAGMA schema_version') await opened
    return read(statement)
  }
  /** A batch looks for commits of other programs. */
  const noticed = () => database.write([])
  for (const label of ['first', 'second', 'third']) {
    other.prepare("UPDATE _rowhouse_tables SET label = ? WHERE name = 'cats'").run(label)
    await noticed()
  }
  isOpen = true
  waiting()
  while (loads.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(loads.length, 2)
  t.equal(app.tables.find('cats')?.label, 'third')
})

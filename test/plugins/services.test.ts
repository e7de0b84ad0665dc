import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { startTokenApp } from '../token-app.ts'

t.test('what another program commits while the service stops is no error', async (t) => {
  const lines: string[] = []
  const { app, file } = await startTokenApp(t, { onLog: (line) => lines.push(line) })
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  other.exec('CREATE TABLE theirs (id INTEGER PRIMARY KEY)')
  await app.close()
  t.strictSame(lines, [])
})

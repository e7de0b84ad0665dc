import BetterSqlite3 from 'better-sqlite3'

const INTERVAL_MS = 100

/** Another program on the database file: it copies the file with VACUUM INTO, or commits ten times a second. */
const [, , task, file = '', target = ''] = process.argv
const db = new BetterSqlite3(file)
if (task === 'vacuum') db.prepare('VACUUM INTO ?').run(target)
else {
  db.pragma('synchronous = FULL')
  const insert = db.prepare("INSERT INTO created_items (name) VALUES ('of another program')")
  setInterval(() => insert.run(), INTERVAL_MS)
  process.send?.('ready')
}

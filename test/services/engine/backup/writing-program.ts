import BetterSqlite3 from 'better-sqlite3'

const INTERVAL_MS = 100

// Another program that commits ten times a second until it is killed.
const [, , file = ''] = process.argv
const db = new BetterSqlite3(file)
const insert = db.prepare('INSERT INTO pairs (left_half) VALUES (?)')
const complete = db.prepare('UPDATE pairs SET right_half = left_half WHERE right_half IS NULL')
const commit = db.transaction((value: number) => {
  insert.run(value)
  complete.run()
})
let count = 0
setInterval(() => {
  commit(count)
  count += 1
  process.stdout.write(`${count}\n`)
}, INTERVAL_MS)

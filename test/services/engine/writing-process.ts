import { dirname } from 'node:path'
import { openDatabase } from '../../../services/engine/loop/open.ts'
import { sql } from './engine.ts'

const [, , file = ''] = process.argv

const db = await openDatabase({
  file,
  dataDirectory: dirname(file),
  cacheSize: 1,
  walSize: 16,
  isQuiet: () => false,
  beforeUpgrade: async () => {},
  onDeath: () => process.exit(1)
})
await db.write([sql('CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY)')])
await db.write([sql('CREATE TABLE IF NOT EXISTS made (name TEXT)')])

const write = async (id: number) => {
  await db.write([sql('INSERT INTO entries VALUES (?)', BigInt(id))])
  process.stdout.write(`${id}\n`)
}

const createListedTable = (id: number) =>
  db.write([sql(`CREATE TABLE made_${id} (a) `), sql('INSERT INTO made VALUES (?)', `made_${id}`)])

// Writes until it is killed: ten inserts concurrently with a unit that creates a table and lists its name in `made`.
for (let id = 1; ; id += 10) {
  await Promise.all([...Array.from({ length: 10 }, (_, index) => write(id + index)), createListedTable(id)])
}

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { Upgrade } from '../../../../services/engine/database.ts'
import { LATEST_VERSION } from '../../../../services/engine/writer/migrations.ts'
import { contentOf, copyOldDatabase } from '../../../old-databases.ts'
import { databaseFile, rejection, sql, startEngine } from '../engine.ts'

const VERSION = "SELECT value FROM _rowhouse_meta WHERE key = 'version'"

const versionOf = (file: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  const version = db.prepare(VERSION).pluck().get()
  db.close()
  return version
}

/** Opens a database of version 7. Returns the upgrades that were announced, and the copies of the file that were made. */
const openOld = async (t: Test, file: string) => {
  const upgrades: Upgrade[] = []
  const copy = `${file}-copy`
  const beforeUpgrade = async (upgrade: Upgrade) => {
    upgrades.push(upgrade)
    t.equal(versionOf(file), 7, 'the file is not migrated yet')
    writeFileSync(copy, '')
    await upgrade.copy(copy)
  }
  const db = await startEngine(t, file, { beforeUpgrade })
  return { db, upgrades, copy }
}

t.test('a file of an older version is copied before its migration', async (t) => {
  const file = copyOldDatabase(t, { version: 7 })
  const [size, before] = [statSync(file).size, contentOf(file)]
  const { db, upgrades, copy } = await openOld(t, file)
  t.match(upgrades, [{ from: 7, to: LATEST_VERSION, bytes: size }])
  t.strictSame(await db.read(sql(VERSION)), [{ value: LATEST_VERSION }])
  t.ok(contentOf(copy).equals(before))
})

t.test('the copy has what is only in the write-ahead log', async (t) => {
  const source = copyOldDatabase(t, { version: 7 })
  const file = copyOldDatabase(t, { version: 7 })
  const other = new BetterSqlite3(source)
  other.exec("INSERT INTO toys VALUES (3, 'rope', 1)")
  for (const end of ['', '-wal']) writeFileSync(`${file}${end}`, readFileSync(`${source}${end}`))
  other.close()
  const { copy } = await openOld(t, file)
  const db = new BetterSqlite3(copy, { readonly: true })
  t.equal(db.prepare('SELECT name FROM toys WHERE id = 3').pluck().get(), 'rope')
  db.close()
})

t.test('without the backup the start fails, and the file is not changed', async (t) => {
  const file = copyOldDatabase(t, { version: 7 })
  const before = readFileSync(file)
  const failed = startEngine(t, file, { beforeUpgrade: () => Promise.reject(new Error('no space')) })
  t.match(await rejection(failed), { message: 'no space' })
  t.ok(readFileSync(file).equals(before))
  const { upgrades } = await openOld(t, file)
  t.equal(upgrades.length, 1, 'the lock was released')
})

t.test('nothing is announced for a new file, a file without our tables, and one that is up to date', async (t) => {
  const file = databaseFile(t)
  const beforeUpgrade = async () => {
    t.fail()
  }
  const first = await startEngine(t, file, { beforeUpgrade })
  await first.close()
  await startEngine(t, file, { beforeUpgrade })
  const foreign = `${file}-foreign`
  new BetterSqlite3(foreign).exec('CREATE TABLE notes (text TEXT)').close()
  await startEngine(t, foreign, { beforeUpgrade })
})

import { EventEmitter, once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createDatabase } from '../../../fixtures.ts'
import { runService, startService } from '../../../service-process.ts'
import { databaseFile, prepareFile, rejection, sql, startEngine } from '../engine.ts'

const INSERT = sql("INSERT INTO notes VALUES ('acknowledged')")

/** Opens the engine on a table with a row that is only in the WAL. `died`: why its writer thread has ended. */
const serve = async (t: Test) => {
  const file = databaseFile(t)
  prepareFile(file, 'CREATE TABLE notes (text TEXT)')
  const deaths = new EventEmitter()
  const died = once(deaths, 'death').then(([cause]) => cause)
  const db = await startEngine(t, file, { onDeath: (cause) => deaths.emit('death', cause) })
  await db.write([INSERT])
  return { file, db, died }
}

const notesIn = (file: string) => {
  const db = new BetterSqlite3(file)
  const notes = db.prepare('SELECT text FROM notes').pluck().all()
  db.close()
  return notes
}

const setAside = (file: string) =>
  readdirSync(dirname(file))
    .filter((name) => name.startsWith(`${basename(file)}-replaced-`))
    .map((name) => name.replace(/-replaced-\d+-\d+/, ''))

const LOST = { cause: { message: /served\.sqlite was removed or replaced while it was served\. .*Put the file back/ } }

t.test('nothing is acknowledged after the file was removed', async (t) => {
  const { file, db, died } = await serve(t)
  rmSync(file)
  t.match(await rejection(db.write([INSERT])), { code: 'OUTCOME_UNKNOWN' })
  t.match(await died, LOST)
  t.strictSame(setAside(file), [`${basename(file)}-shm`, `${basename(file)}-wal`])
  t.match(await rejection(db.write([INSERT])), { code: 'OVERLOADED' })
})

t.test('a moved file has all acknowledged changes, and they are not replayed over the new one', async (t) => {
  const { file, db, died } = await serve(t)
  renameSync(file, `${file}.moved`)
  prepareFile(`${file}.new`, "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('new')")
  renameSync(`${file}.new`, file)
  t.match(await died, LOST, 'it is noticed without a write')
  t.strictSame(setAside(file), [`${basename(file)}-shm`, `${basename(file)}-wal`])
  await db.close()
  t.strictSame(notesIn(file), ['new'])
  t.strictSame(notesIn(`${file}.moved`), ['acknowledged'])
})

t.test('a WAL of the new file is not moved', async (t) => {
  const { file, db, died } = await serve(t)
  for (const ending of ['', '-wal', '-shm']) {
    rmSync(file + ending)
    writeFileSync(file + ending, 'of another program')
  }
  t.match(await rejection(db.write([INSERT])), { code: 'OUTCOME_UNKNOWN' })
  await died
  await db.close()
  t.strictSame(setAside(file), [])
  for (const ending of ['', '-wal', '-shm']) t.equal(readFileSync(file + ending, 'utf8'), 'of another program')
})

t.test('a start after a kill does not replay the WAL over a replaced file', async (t) => {
  const file = createDatabase(t, 'CREATE TABLE notes (text TEXT)')
  const env = { DATABASE: file }
  const killed = await startService(t, env)
  const { dataDir } = killed
  await killed.end('SIGKILL')
  t.ok(existsSync(`${file}-wal`))
  const copy = `${file}.copy`
  copyFileSync(file, copy)
  renameSync(copy, file)
  const refused = await runService(t, { ...env, DATA_DIR: dataDir })
  t.equal((await refused.ended)[0], 1)
  t.match(refused.lines.join('\n'), /^Rowhouse did not start: .* was replaced, but .*-wal has the last changes of the/)
  for (const ending of ['-wal', '-shm']) rmSync(file + ending)
  const restarted = await startService(t, { ...env, DATA_DIR: dataDir })
  t.equal((await restarted.end('SIGTERM'))[0], 0)
})

t.test('a removed file stops the service, and a restart does not create an empty one', async (t) => {
  const service = await startService(t)
  const { dataDir } = service
  const file = join(dataDir, 'rowhouse.db')
  rmSync(file)
  t.equal((await service.ended)[0], 1)
  const fatal = service.errorLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 60)
  t.match(fatal, [{ msg: /has stopped/, err: { message: /rowhouse\.db was removed or replaced while it was served/ } }])
  t.equal(fatal.length, 1)

  const refused = await runService(t, { DATA_DIR: dataDir })
  t.equal((await refused.ended)[0], 1)
  t.match(refused.lines.join('\n'), /rowhouse\.db was served before, and is gone\. Restore it from a backup, or delete/)
  t.notOk(existsSync(file))
  const [record = ''] = readdirSync(dataDir).filter((name) => name.startsWith('served-'))
  rmSync(join(dataDir, record))
  const restarted = await startService(t, { DATA_DIR: dataDir })
  t.equal((await restarted.end('SIGTERM'))[0], 0)
})

t.test('a file with a second hard link is refused, and unchanged', async (t) => {
  const file = createDatabase(t, 'CREATE TABLE notes (text TEXT)')
  const before = readFileSync(file)
  linkSync(file, `${file}.link`)
  const refused = await runService(t, { DATABASE: file })
  t.equal((await refused.ended)[0], 1)
  t.match(refused.lines.join('\n'), /has 2 names \(hard links\)\..*Serve a copy, or remove the other names/)
  t.strictSame(readFileSync(file), before)
  rmSync(`${file}.link`)
  await (await startService(t, { DATABASE: file })).end('SIGTERM')
})

import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { createServedRecord } from '../../../../services/engine/loop/served-record.ts'
import { databaseFile } from '../engine.ts'

/** Creates a file with a WAL, and its record. */
const start = (t: Test) => {
  const file = databaseFile(t)
  for (const path of [file, `${file}-wal`]) writeFileSync(path, 'before')
  const directory = dirname(file)
  const { check, write } = createServedRecord(directory, file)
  write()
  const [record = ''] = readdirSync(directory).filter((name) => name.startsWith('served-'))
  /** Another file with the same path. */
  const replace = () => {
    copyFileSync(file, `${file}.copy`)
    renameSync(`${file}.copy`, file)
  }
  return { file, record: join(directory, record), check, write, replace }
}

t.test('a database that is served for the first time is accepted', async (t) => {
  const { record, check } = start(t)
  rmSync(record)
  t.doesNotThrow(check)
})

t.test('the same database is accepted, and its record names it', async (t) => {
  const { file, record, check } = start(t)
  t.doesNotThrow(check)
  t.equal(readFileSync(record, 'utf8').split('\n')[0], file)
})

t.test('a database that is gone is refused, until its record is deleted', async (t) => {
  const { file, record, check } = start(t)
  rmSync(file)
  t.throws(check, {
    message: `${file} was served before, and is gone. Restore it from a backup, or delete ${record} to start with an empty database.`
  })
  rmSync(record)
  t.doesNotThrow(check)
})

t.test('a replaced database is refused with the WAL of the previous one, and accepted without it', async (t) => {
  const { file, check, write, replace } = start(t)
  replace()
  t.throws(check, { message: /was replaced, but .*-wal has the last changes of the previous file\. Delete / })
  rmSync(`${file}-wal`)
  t.doesNotThrow(check)
  write()
  t.doesNotThrow(check)
})

t.test('a copy of the directory is accepted, also if its files get the same inodes', async (t) => {
  const { file, check } = start(t)
  for (const path of [file, `${file}-wal`]) {
    const content = readFileSync(path)
    rmSync(path)
    writeFileSync(path, content)
  }
  t.doesNotThrow(check)
})

import { mkdirSync } from 'node:fs'
import t from 'tap'
import { createLock } from '../../../../services/engine/writer/lock.ts'
import { databaseFile } from '../engine.ts'

t.test('a lock cannot be taken before the other one is released', async (t) => {
  const file = databaseFile(t)
  const [first, second] = [createLock(file), createLock(file)]
  t.notOk(second.exists())
  first.take()
  first.take()
  t.ok(second.exists())
  t.throws(() => second.take(), { message: /^Another Rowhouse serves .*\. Stop it first/ })
  first.release()
  second.take()
  second.release()
})

t.test('a lock file that cannot be opened is refused with the reason', async (t) => {
  const file = databaseFile(t)
  mkdirSync(`${file}-rowhouse-lock`)
  t.throws(() => createLock(file).take(), { message: /^The lock file .* cannot be opened \(.*\)\. Give this user/ })
})

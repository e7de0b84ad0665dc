import Fastify from 'fastify'
import t from 'tap'
import retryPurge from '../../../plugins/app/retry-purge.ts'
import { overloaded } from '../../../services/model/errors.ts'
import { storeRetry } from '../../../services/sql/retries.ts'
import { createTestClock, openTestDatabase } from '../../session-app.ts'

const DAY = 24 * 60 * 60 * 1000

t.test('expired keys of all callers are deleted at intervals, and a failure is logged', async (t) => {
  const db = await openTestDatabase(t)
  const { clock, advance } = createTestClock()
  const store = (key: string) =>
    storeRetry({ caller: 'token 1', key, digest: '', operations: 0, tables: [], now: clock() }, {})
  for (let number = 0; number < 150; number += 1) await db.write(store(`k${number}`))
  advance(DAY - 1)
  await db.write(store('kept'))
  advance(1)
  const { write } = db
  db.write = () => Promise.reject(overloaded('Full.', 1))
  let logged = () => {}
  const failed = new Promise<void>((resolve) => {
    logged = resolve
  })
  const app = Fastify({ logger: { level: 'error', stream: { write: () => logged() } } })
  app.decorate('database', db)
  app.decorate('clock', clock)
  await app.register(retryPurge, { interval: 5 })
  t.teardown(() => app.close())
  await app.ready()
  await failed
  db.write = write
  const keys = async () =>
    (await db.read({ sql: 'SELECT key FROM _rowhouse_retries', params: [] })).map(({ key }) => key)
  while ((await keys()).length > 1) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(await keys(), ['kept'])
})

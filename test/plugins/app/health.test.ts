import BetterSqlite3 from 'better-sqlite3'
import Fastify from 'fastify'
import t from 'tap'
import { readConfig } from '../../../config.ts'
import database, { startOpening } from '../../../plugins/app/database.ts'
import health from '../../../plugins/app/health.ts'
import services from '../../../plugins/app/services.ts'
import errors from '../../../plugins/http/errors.ts'
import { createSettings } from '../../../services/settings/settings.ts'
import { CHEAP, temporaryDirectory } from '../../helpers.ts'

let now = Date.now()
const config = readConfig({ DATA_DIR: temporaryDirectory(t) })
const lines: string[] = []
const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => lines.push(line) } } })
app.decorate('config', config)
app.decorate('settings', createSettings(config))
app.decorate('clock', () => now)
await app.register(errors)
await app.register(database, { opening: startOpening({ config, onDeath: t.threw }) })
await app.register(services, { hashingCost: CHEAP })
await app.register(health)
t.teardown(() => app.close())

t.test('a service that can read and write is alive and ready', async (t) => {
  for (const url of ['/health', '/health/ready']) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: { status: 'ok' } })
  }
})

t.test('a service that cannot write is alive but not ready, until it can again', async (t) => {
  const external = new BetterSqlite3(`${config.DATA_DIR}/rowhouse.db`)
  t.teardown(() => external.close())
  external.exec("CREATE TRIGGER no BEFORE INSERT ON _rowhouse_meta BEGIN SELECT RAISE(ABORT, 'no'); END")
  now += 1000

  const ready = await app.inject('/health/ready')
  t.equal(ready.statusCode, 503)
  t.equal(ready.headers['retry-after'], '5')
  t.match(ready.json(), { success: false, error: { code: 'STORAGE_UNAVAILABLE' } })
  t.equal((await app.inject('/health')).statusCode, 200)
  await app.inject('/health/ready')
  t.equal(lines.length, 1, 'one line per minute')
  t.match(JSON.parse(lines[0] ?? ''), {
    level: 40,
    code: 'STORAGE_UNAVAILABLE',
    cause: /^SQLITE_CONSTRAINT_TRIGGER: /,
    msg: /^Not ready: /
  })

  external.exec('DROP TRIGGER no')
  now += 1000
  t.equal((await app.inject('/health/ready')).statusCode, 200)
})

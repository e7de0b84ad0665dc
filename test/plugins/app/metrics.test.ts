import { rmSync } from 'node:fs'
import t, { type Test } from 'tap'
import { asAdmin, bearer, createTable, dataOf, expectError, startApp } from '../../helpers.ts'
import { METRICS_TOKEN, namesIn, readMetrics, untilCounted, valuesIn } from '../../metrics-client.ts'

const start = (t: Test) => startApp(t, { env: { METRICS_TOKEN } })

t.test('without METRICS_TOKEN there are no metrics', async (t) => {
  const app = await startApp(t)
  const response = await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })
  expectError(t, response, 404, 'ROUTE_NOT_FOUND')
  t.equal(app.metrics, null)
})

t.test('metrics are for callers with METRICS_TOKEN', async (t) => {
  const app = await start(t)
  for (const authorization of [
    undefined,
    METRICS_TOKEN,
    'Bearer',
    `Bearer ${METRICS_TOKEN}x`,
    `Basic ${METRICS_TOKEN}`
  ]) {
    const response = await app.inject({ url: '/metrics', headers: { ...(authorization && { authorization }) } })
    expectError(t, response, 401, 'INVALID_TOKEN')
    t.equal(response.headers['www-authenticate'], 'Bearer')
  }
  for (const authorization of [`Bearer ${METRICS_TOKEN}`, `bearer  ${METRICS_TOKEN}`]) {
    const response = await app.inject({ url: '/metrics', headers: { authorization } })
    t.equal(response.statusCode, 200)
    t.equal(response.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    t.match(namesIn(response.body), ['nodejs_active_handles'])
  }
})

t.test('METRICS_PORT has the metrics, and no other route', async (t) => {
  const app = await startApp(t, { env: { METRICS_PORT: '0' } })
  const response = await app.metricsListener?.server.inject('/metrics')
  t.match(response, { statusCode: 200, body: /^rowhouse_reads_total [1-9]/m })
  for (const url of ['/health', '/admin/tables']) {
    const refused = await app.metricsListener?.server.inject(url)
    t.equal(refused?.statusCode, 404)
    t.match(refused?.json(), { success: false, error: { code: 'ROUTE_NOT_FOUND' } })
  }
  expectError(t, await app.inject('/metrics'), 404, 'ROUTE_NOT_FOUND')
})

t.test('with METRICS_TOKEN, METRICS_PORT needs the token too', async (t) => {
  const app = await startApp(t, { env: { METRICS_PORT: '0', METRICS_TOKEN } })
  t.match(await app.metricsListener?.server.inject('/metrics'), { statusCode: 401 })
  const allowed = await app.metricsListener?.server.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })
  t.equal(allowed?.statusCode, 200)
  await readMetrics(app)
})

t.test('requests are counted by the template of their route and the class of their status', async (t) => {
  const app = await start(t)
  const admin = await asAdmin(app)
  const { id, name } = await createTable(admin, {
    name: 'secret_plans',
    fields: [{ name: 'title', jsonType: 'string' }]
  })
  const { token } = dataOf(
    await admin.post('/admin/tokens', { name: 'Zanzibar', permissions: { tables: ['*'], actions: ['read'] } })
  )
  dataOf(await admin.post(`/admin/tables/${id}/data`, { title: 'x' }))
  for (const key of ['1', '1', '77777'])
    await app.inject({ url: `/data/${name}/records/${key}`, headers: bearer(token) })
  await app.inject({ method: 'POST', url: `/nowhere/${name}` })

  const route = 'route="/data/:table/records/:pk"'
  const values = await untilCounted(app, 'rowhouse_http_requests_total{method="POST",route="unknown",status="4xx"}', 1)
  t.match(values, {
    [`rowhouse_http_requests_total{method="GET",${route},status="2xx"}`]: 2,
    [`rowhouse_http_requests_total{method="GET",${route},status="4xx"}`]: 1,
    [`rowhouse_http_request_duration_seconds_count{method="GET",${route}}`]: 3,
    [`rowhouse_http_request_duration_seconds_bucket{method="GET",${route},le="+Inf"}`]: 3,
    'rowhouse_http_errors_total{code="RECORD_NOT_FOUND"}': 1,
    'rowhouse_http_errors_total{code="ROUTE_NOT_FOUND"}': 1
  })
  const text = await readMetrics(app)
  for (const secret of [name, token, token.slice(0, 11), '77777', 'Zanzibar', 'title'])
    t.notOk(text.includes(secret), secret)
})

t.test('the engine is measured', async (t) => {
  const app = await start(t)
  const admin = await asAdmin(app)
  const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const before = valuesIn(await readMetrics(app))
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom' }))
  const after = valuesIn(await readMetrics(app))
  const growth = (name: string) => Number(after[name]) - Number(before[name])
  t.equal(growth('rowhouse_write_batch_size_count'), 1)
  t.equal(growth('rowhouse_write_batch_size_bucket{le="1"}'), 1)
  t.equal(growth('rowhouse_write_commit_seconds_count'), 1)
  t.ok(growth('rowhouse_write_commit_seconds_sum') > 0)
  t.equal(after['rowhouse_write_wait_seconds_bucket{le="+Inf"}'], after.rowhouse_write_wait_seconds_count)
  t.ok(growth('rowhouse_reads_total') > 0)
  t.match(after, {
    rowhouse_writes_pending: 0,
    'rowhouse_scans_running{pool="views"}': 0,
    rowhouse_wal_restarts_total: 0,
    rowhouse_imports_running: 0
  })
  t.ok(Number(after.rowhouse_database_bytes) > 0 && Number(after.rowhouse_wal_bytes) > 0)
})

t.test('a service can add metrics', async (t) => {
  const app = await start(t)
  let last: number | null = null
  const help = 'For this test.'
  app.metrics?.add({ type: 'gauge', name: 'test_age_seconds', help, read: async () => (last === null ? [] : last) })
  app.metrics?.add({
    type: 'counter',
    name: 'test_uses_total',
    help,
    labels: ['kind'],
    read: () => [{ labels: { kind: 'a' }, value: 2 }]
  })
  const values = valuesIn(await readMetrics(app))
  t.notOk('test_age_seconds' in values, 'a metric without a value has no line')
  t.equal(values['test_uses_total{kind="a"}'], 2)
  last = 7.5
  const later = valuesIn(await readMetrics(app))
  t.equal(later.test_age_seconds, 7.5)
  t.equal(later['test_uses_total{kind="a"}'], 2, 'reading does not count twice')
})

t.test('each service in a process has metrics of its own', async (t) => {
  const [one, other] = await Promise.all([start(t), start(t)])
  await one.inject('/health')
  const health = 'rowhouse_http_requests_total{method="GET",route="/health",status="2xx"}'
  await untilCounted(one, health, 1)
  t.notOk(health in valuesIn(await readMetrics(other)))
})

t.test('the last backup has figures, also if it failed', async (t) => {
  const app = await start(t)
  const admin = await asAdmin(app)
  t.notMatch(await readMetrics(app), /^rowhouse_last_backup_ok \d/m, 'there is none yet')
  const { bytes } = dataOf(await admin.post('/admin/backups'))
  const made = valuesIn(await readMetrics(app))
  t.equal(made.rowhouse_last_backup_ok, 1)
  t.equal(made.rowhouse_last_backup_bytes, bytes)
  t.ok(Math.abs(Date.now() / 1000 - Number(made.rowhouse_last_backup_timestamp_seconds)) < 60)
  rmSync(app.backups.path, { recursive: true })
  t.not((await admin.post('/admin/backups')).statusCode, 200)
  t.match(valuesIn(await readMetrics(app)), { rowhouse_last_backup_ok: 0, rowhouse_last_backup_bytes: 0 })
})

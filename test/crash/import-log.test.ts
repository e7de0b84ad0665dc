import t from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { type Service, startService } from '../service-process.ts'
import { logIn } from './access.ts'
import { createHttp, dataOf } from './http.ts'

const ROWS = 100_000
const FILE = `n\n${Array.from({ length: ROWS }, (_, index) => `${index}\n`).join('')}`

interface Listed {
  readonly tableId: number
  readonly state: string
  readonly storedRows: number
}

const connect = async ({ address }: Service) => {
  const call = createHttp(address, { cookie: await logIn(address) })
  return {
    importFile: async (path: string) => dataOf(await call('POST', path, FILE, { 'content-type': 'text/csv' })),
    latest: async (): Promise<Listed | undefined> => dataOf(await call('GET', '/admin/imports'))[0],
    totalOf: async (id: number): Promise<number> => dataOf(await call('GET', `/admin/tables/${id}/data?size=1`)).total
  }
}

t.test('after kill -9 an import is interrupted, with exactly the stored records, and can be continued', async (t) => {
  const directory = temporaryDirectory(t)
  const start = () => startService(t, { DATA_DIR: directory })
  const killed = await start()
  const before = await connect(killed)
  const importing = before.importFile('/admin/tables/from-file?name=numbers&label=').catch(() => null)
  let running: Listed | undefined
  while (!running?.storedRows) running = await before.latest()
  t.equal(running.state, 'running')
  await killed.end('SIGKILL')
  t.equal(await importing, null, 'the import had not ended')

  const after = await connect(await start())
  const interrupted = (await after.latest()) as Listed
  t.match(interrupted, { state: 'interrupted', table: 'numbers', isNewTable: true, totalRows: ROWS })
  const { tableId, storedRows } = interrupted
  t.equal(await after.totalOf(tableId), storedRows)
  const rest = await after.importFile(`/admin/tables/${tableId}/import?skip=${storedRows}`)
  t.strictSame(rest, { rows: ROWS, created: ROWS - storedRows, updated: 0, atomic: false, dryRun: false })
  t.equal(await after.totalOf(tableId), ROWS)
})

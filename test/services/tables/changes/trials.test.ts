import t from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { createTrials } from '../../../../services/tables/changes/trials.ts'
import { startServices } from '../../services.ts'
import { noRoleNames } from '../../token-service.ts'

t.test('a deletion that fails is not retried', async (t) => {
  const { db, registry } = await startServices(t, 'CREATE TABLE cats (id INTEGER PRIMARY KEY)')
  let writes = 0
  const write: Database['write'] = async () => {
    writes += 1
    throw new Error('disk full')
  }
  const { commitTried } = createTrials({ db: { ...db, write }, registry, roleNames: noRoleNames, clock: Date.now })
  await t.rejects(commitTried(serviceCaller, { unit: [{ sql: 'DROP TABLE cats', params: [] }], entries: [] }), {
    message: 'disk full'
  })
  t.equal(writes, 1)
})

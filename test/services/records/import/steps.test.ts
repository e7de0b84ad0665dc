import t from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { DomainError } from '../../../../services/model/errors.ts'
import { type CheckedFile, createImportSteps } from '../../../../services/records/import/steps.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices } from '../../services.ts'

t.test('an import ends with the failure of the explanation of its error', async (t) => {
  const { db, serve, totals } = await startServices(t, 'CREATE TABLE cats (id INTEGER PRIMARY KEY)')
  const access = (await serve('cats')).access()
  const failing = { ...db, read: () => Promise.reject(new Error('No read.')) }
  const currentTable = () => {
    throw new DomainError('UNIQUE_VIOLATION', 'Refused.', { reported: 'an index' })
  }
  const store = createImportSteps({ db: failing, totals, clock: () => 0, currentTable })
  const checked = {
    plan: { access, on: null, options: {}, staging: { fallbacks: [] }, target: { declarations: [''], uniqueKeys: [] } },
    staging: { attach: async () => 'staged', step: async () => ({ last: 1n, rows: 1 }) },
    file: { rows: 1, skipped: 0, fields: ['id'], bytes: 1 }
  } as unknown as CheckedFile
  const progress = () => ({ sql: 'SELECT 1', params: [] })
  t.match(await rejection(store(serviceCaller, access, checked, { progress })), { message: 'No read.' })
})

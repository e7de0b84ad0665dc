import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { createExplain } from '../../../services/tokens/explain.ts'
import { asAdmin, createTable, dataOf, startApp } from '../../helpers.ts'

t.test('a failure that is not a refusal is not an explanation', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  await createTable(admin, { name: 'cats', fields: [{ name: 'a', jsonType: 'string' }] })
  const permissions = { tables: ['*'], actions: ['read'] }
  const { id } = dataOf(await admin.post('/admin/tokens', { name: 'shop', permissions }))
  const explain = createExplain({
    clock: Date.now,
    tokens: app.tokens,
    findTable: app.tables.find,
    decisionOf: () => undefined,
    accessOf: () => {
      throw new Error('a bug')
    },
    read: async () => '{}'
  })
  await t.rejects(explain(serviceCaller, id, { table: 'cats', action: 'read' }), { message: 'a bug' })
})

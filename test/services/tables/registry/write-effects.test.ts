import t from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import type { RegisteredTable } from '../../../../services/model/table.ts'
import { createWriteEffects } from '../../../../services/tables/registry/write-effects.ts'

const isCountable = async (trigger: string) => {
  const read: Database['read'] = async ({ sql }) =>
    sql.includes("type = 'trigger'") ? [{ name: 't', sql: trigger }] : []
  const effects = createWriteEffects({ read } as Database)
  await effects.load()
  return effects.isCountable({ name: 'other' } as RegisteredTable)
}

t.test('no table is countable beside a trigger that is not understood', async (t) => {
  t.equal(await isCountable('CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM 5; END'), false)
  t.equal(await isCountable('CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM other; END'), false)
  t.equal(await isCountable('CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END'), true)
})

import t from 'tap'
import type { RegisteredTable } from '../../../../services/model/table.ts'
import { createBudget, MAX_STEPS, measuredWork } from '../../../../services/records/change/work.ts'

const create = { table: { name: 'notes' } as RegisteredTable, kind: 'create', rows: 1 } as const

t.test('a single record may take 500 ms, and the records of a batch 250 ms together', async (t) => {
  t.equal(measuredWork(create, 500, true).steps, MAX_STEPS)
  t.equal(measuredWork(create, 250, false).steps, MAX_STEPS)
  t.equal(measuredWork({ ...create, rows: 2 }, 125, true).steps, MAX_STEPS)
  const spend = createBudget()
  for (let sent = 0; sent < 100; sent += 1) spend([measuredWork(create, 2.5, false)])
  t.throws(() => spend([measuredWork(create, 2.5, false)]), { code: 'TOO_MUCH_WORK' })
})

t.test('a record of unknown cost has no steps', async (t) => {
  t.equal(measuredWork(create, undefined, true).steps, 0)
})

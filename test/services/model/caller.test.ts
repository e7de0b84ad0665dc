import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'

t.test('the service itself has every right, and keeps it', async (t) => {
  await t.resolves(serviceCaller.confirm())
  await t.resolves(serviceCaller.confirmRight())
  t.equal(serviceCaller.mayRead('cats'), true)
})

import t from 'tap'
import { createCallerCounts } from '../../../plugins/http/caller-counts.ts'
import { serviceCaller } from '../../../services/model/caller.ts'

t.test('counts are kept for each caller, and in all', async (t) => {
  const counts = createCallerCounts()
  const [one, other] = [{ ...serviceCaller, id: 1 }, { ...serviceCaller, kind: 'token', id: 1 } as const]
  counts.add(one, 5)
  counts.add(other, 2)
  counts.add(one, -3)
  t.strictSame([counts.of(one), counts.of(other), counts.total()], [2, 2, 4])
  counts.add(one, -2)
  t.strictSame([counts.of(one), counts.total()], [0, 2])
})

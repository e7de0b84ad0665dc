import { runInNewContext } from 'node:vm'
import t from 'tap'
import { collectGarbage, createGarbageCount } from '../../../../services/engine/shared/garbage.ts'

const MIB = 2 ** 20

t.test('the garbage collector runs after each 16 MiB of large values', async (t) => {
  let runs = 0
  let now = 0
  const collect = () => {
    runs += 1
  }
  const count = createGarbageCount(collect, () => now)
  for (let value = 0; value < 100; value += 1) count(MIB)
  t.equal(runs, 0, 'small values do not count')
  count(15 * MIB)
  t.equal(runs, 0)
  count(5 * MIB)
  t.equal(runs, 1)
  now = 1000
  count(15 * MIB)
  t.equal(runs, 1)
  count(17 * MIB)
  t.equal(runs, 2)
  count(17 * MIB)
  t.equal(runs, 2, 'not again at once')
  now = 2000
  count(4 * MIB)
  t.equal(runs, 3)
})

t.test('another thread finds the garbage collector, too, after one has used it', async (t) => {
  collectGarbage()
  t.equal(runInNewContext('typeof gc'), 'function')
})

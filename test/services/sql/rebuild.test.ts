import t from 'tap'
import { generatedFrom } from '../../../services/sql/rebuild.ts'

t.test('finds the generated column whose expression names a column, however both are quoted', async (t) => {
  for (const [name, found] of [
    ['total', 'total'],
    ['"to tal"', 'to tal'],
    ['[total]', 'total'],
    ["'total'", 'total']
  ] as const)
    t.equal(generatedFrom(`CREATE TABLE t (price REAL, ${name} AS ("Price" * 2), other AS (1))`, 'price'), found, name)
})

t.test('a column that no expression names has no generated column', async (t) => {
  t.equal(generatedFrom("CREATE TABLE t (price REAL, total AS ('price' || other), other TEXT)", 'price'), undefined)
  t.equal(generatedFrom('CREATE TABLE t (price REAL)', 'price'), undefined)
})

import t from 'tap'
import { COMPARISON_HEAD, comparisonRow, isQuiet, type Pair, selectQuietest } from '../../bench/pairs.ts'

const pair = (own: number, other: number, [ownOthers, otherOthers] = [0, 0]): Pair => ({
  own: { perSecond: own, cpuPerRequest: 1e6 / own, othersShare: ownOthers },
  other: { perSecond: other, cpuPerRequest: 1e6 / other, othersShare: otherOthers }
})

const figures = (processes: readonly (readonly Pair[])[]) => {
  const row = comparisonRow('read', processes)
  return Object.fromEntries(COMPARISON_HEAD.map((column, index) => [column, row[index]]))
}

t.test('a pair is quiet if other programs were idle in both of its rounds', async (t) => {
  t.equal(isQuiet(pair(1, 1, [0.15, 0.15])), true)
  t.equal(isQuiet(pair(1, 1, [0.16, 0])), false)
  t.equal(isQuiet(pair(1, 1, [0, 0.16])), false)
})

t.test('the quietest pairs are those with the least CPU time of other programs in either round', async (t) => {
  const [loud, quiet, quietest] = [pair(1, 1, [0, 0.9]), pair(2, 2, [0.2, 0]), pair(3, 3, [0.1, 0.1])]
  t.strictSame(selectQuietest([loud, quiet, quietest], 2), [quietest, quiet])
})

t.test('the ratio is the median of the ratios of the pairs', async (t) => {
  t.strictSame(figures([[pair(100, 100), pair(98, 100)], [pair(1000, 500)]]), {
    case: 'read',
    'this/s': '100',
    'other/s': '100',
    'this/other': '1.000',
    '95 % interval': '0.990 to 2.000',
    'CPU this/other': '1.000',
    others: '0 %  ',
    target: '≥ 0.97  reached'
  })
})

t.test('a case that is more than 3 % slower misses the target, one that is 3 % slower reaches it', async (t) => {
  t.equal(figures([[pair(969, 1000)]]).target, '≥ 0.97  NOT REACHED')
  t.equal(figures([[pair(970, 1000)]]).target, '≥ 0.97  reached')
})

t.test('a case is not judged if other programs were busy', async (t) => {
  const { others, target } = figures([[pair(900, 1000, [0, 0.2])]])
  t.equal(others, '20 % !')
  t.equal(target, '≥ 0.97  not judged: other programs were busy, measure again')
})

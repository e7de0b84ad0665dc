import t from 'tap'
import {
  alignedTable,
  atLeast,
  below,
  figureTable,
  generatorShare,
  mebibytes,
  microseconds,
  milliseconds,
  othersShare,
  perSecond,
  preciseRatio,
  ratio,
  verdict
} from '../../bench/report.ts'

t.test('a minimum is reached by a figure that is equal to it', async (t) => {
  t.equal(verdict(atLeast(0.95, 0.95)), '≥ 0.95  reached')
  t.equal(verdict(atLeast(0.949, 0.95)), '≥ 0.95  NOT REACHED')
})

t.test('an upper limit is not reached by a figure that is equal to it', async (t) => {
  t.equal(verdict(below(1.9, 2, ' s')), '< 2 s  reached')
  t.equal(verdict(below(2, 2, ' s')), '< 2 s  NOT REACHED')
})

t.test('a target that does not apply is not judged, and the reason is printed', async (t) => {
  t.equal(verdict({ ...atLeast(0, 1), notJudged: 'a slow disk' }), '≥ 1  not judged: a slow disk')
})

t.test('a busy generator is marked, an idle one is not', async (t) => {
  t.equal(generatorShare(0.91), '91 % *')
  t.equal(generatorShare(0.9), '90 %  ')
})

t.test('a machine that is busy with other programs is marked, an idle one is not', async (t) => {
  t.equal(othersShare(0.16), '16 % !')
  t.equal(othersShare(0.15), '15 %  ')
})

t.test('figures are rounded to their significant digits', async (t) => {
  t.equal(perSecond(12_345.6), '12,346')
  t.equal(milliseconds(1.2345), '1.23')
  t.equal(microseconds(15.44), '15.4')
  t.equal(ratio(0.949), '0.95')
  t.equal(preciseRatio(0.9696), '0.970')
  t.equal(mebibytes(200 * 2 ** 20), '200')
})

t.test('columns are aligned: names to the left, figures to the right', async (t) => {
  const rows = [
    ['case', 'requests/s', 'target'],
    ['read', '9', '']
  ]
  t.equal(alignedTable(rows), 'case   requests/s   target\nread            9')
})

t.test('a table of figures shows the target of each figure', async (t) => {
  t.equal(
    figureTable([{ name: 'start, s', value: '0.40', target: below(0.4, 0.5) }]),
    'start, s   0.40   < 0.5  reached'
  )
})

import t from 'tap'
import { parseClaimPointers, valueAt } from '../../../services/tokens/claim-pointers.ts'

t.test('names and pointers are read from a list', async (t) => {
  t.strictSame(parseClaimPointers('a=/b, c=/https:~1~1x.org~1?q=1/d'), [
    ['a', '/b'],
    ['c', '/https:~1~1x.org~1?q=1/d']
  ])
})

t.test('a pointer finds members and elements, and nothing else', async (t) => {
  const payload = { a: { 'b.c/d~1': [1, { e: 2 }] }, '': 3, f: 'text', g: null, '01': 4 }
  for (const [pointer, value] of [
    ['/a/b.c~1d~01/0', 1],
    ['/a/b.c~1d~01/1/e', 2],
    ['/', 3],
    ['/f', 'text'],
    ['/g', null],
    ['/01', 4],
    ['/a/b.c~1d~01/2', undefined],
    ['/a/b.c~1d~01/00', undefined],
    ['/a/b.c~1d~01/length', undefined],
    ['/f/0', undefined],
    ['/f/length', undefined],
    ['/g/a', undefined],
    ['/toString', undefined],
    ['/__proto__', undefined],
    ['/h/i', undefined]
  ] as const)
    t.equal(valueAt(payload, pointer), value, pointer)
})

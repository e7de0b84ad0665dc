import { tmpdir } from 'node:os'
import t from 'tap'
import { readOptions } from '../../bench/options.ts'

const known = ['read', 'create']

t.test('without a name every case runs', async (t) => {
  t.strictSame(readOptions([], known), {
    names: known,
    isQuick: false,
    directory: tmpdir(),
    generator: undefined,
    profiles: undefined
  })
})

t.test('a named case runs alone', async (t) => {
  const { names, isQuick } = readOptions(['create', '--quick'], known)
  t.strictSame(names, ['create'])
  t.equal(isQuick, true)
})

t.test('an unknown name is refused with those that there are', async (t) => {
  t.throws(() => readOptions(['delete'], known), { message: "There is no case 'delete'. Cases: read, create." })
})

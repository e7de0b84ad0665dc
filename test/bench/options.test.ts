import { tmpdir } from 'node:os'
import t from 'tap'
import { readOptions } from '../../bench/options.ts'

const cases = { all: ['read', 'create', 'start'], compared: ['read', 'create'] }

t.test('without a name all cases run', async (t) => {
  t.strictSame(readOptions([], cases), {
    names: cases.all,
    isQuick: false,
    directory: tmpdir(),
    generator: undefined,
    profiles: undefined,
    against: undefined
  })
})

t.test('with a name only that case runs', async (t) => {
  const { names, isQuick } = readOptions(['create', '--quick'], cases)
  t.strictSame(names, ['create'])
  t.equal(isQuick, true)
})

t.test('an unknown name is an error that lists the cases', async (t) => {
  t.throws(() => readOptions(['delete'], cases), {
    message: "There is no case 'delete'. Cases: read, create, start."
  })
})

t.test('--against selects the cases that every build has', async (t) => {
  const { names, against } = readOptions(['--against', '/other'], cases)
  t.strictSame(names, cases.compared)
  t.equal(against, '/other')
  t.strictSame(readOptions(['--against', '/other', 'create'], cases).names, ['create'])
})

t.test('--against a case that only this build has is an error', async (t) => {
  t.throws(() => readOptions(['--against', '/other', 'start'], cases), {
    message: "There is no case 'start'. Cases: read, create."
  })
})

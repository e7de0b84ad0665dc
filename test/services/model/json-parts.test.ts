import fc from 'fast-check'
import t from 'tap'
import { countKeysIn, hasMoreParts } from '../../../services/model/json-parts.ts'

const keysIn = (text: string) => countKeysIn(Buffer.from(text))

t.test('colons in strings are not counted as keys, in short and in long strings', async (t) => {
  t.equal(keysIn('{"a:":":","b\\":":1}'), 2)
  for (let length = 0; length < 200; length += 1) {
    const padding = 'x'.repeat(length)
    for (const end of ['', '\\\\', '\\"', ':\\"', '\\\\\\"']) {
      const text = `{"a":"${padding}${end}","b:":1}`
      t.equal(keysIn(text), 2, text)
    }
  }
})

t.test('a string that does not end has no keys', async (t) => {
  t.equal(keysIn('{"a":1,"b'), 1)
  t.equal(keysIn(`{"a":1,"${'x:'.repeat(200)}`), 1)
  t.equal(keysIn(`{"a":1,"${'x'.repeat(100)}\\"`), 1)
  t.equal(keysIn(`{"a":1,"${'x'.repeat(63)}\\`), 1)
})

t.test('the keys of any JSON are counted', async () => {
  const count = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0
    const members = Object.values(value).reduce((sum: number, member) => sum + count(member), 0)
    return members + (Array.isArray(value) ? 0 : Object.keys(value).length)
  }
  fc.assert(fc.property(fc.jsonValue(), (value) => keysIn(JSON.stringify(value)) === count(value)))
})

t.test('parts are keys, objects and arrays', async (t) => {
  const bytes = Buffer.from('{"a":[{"b":"{[:"}],"c":[]}')
  t.equal(hasMoreParts(bytes, 7), false)
  t.equal(hasMoreParts(bytes, 6), true)
})

import fc from 'fast-check'
import t from 'tap'
import { hasRepeated, repeatedKey } from '../../../services/model/repeated-keys.ts'

const repeatedIn = (text: string) => repeatedKey(Buffer.from(text), text, JSON.parse(text))

t.test('a key that an object has twice is found', async (t) => {
  const expected: Record<string, string> = {
    '{"a":1,"a":1}': 'a',
    '{"a" : 1, "b": {}, "a"\n: 2}': 'a',
    '{"a:":":","b":[{"a:":1},{"c":{"d":":\\"","\\u0064":2}}]}': 'd',
    '[{"__proto__":1,"__proto__":2}]': '__proto__',
    '{"":1,"":2}': '',
    '{"\\"":1,"x\\\\":2,"\\"":3}': '"'
  }
  for (const [text, key] of Object.entries(expected)) t.equal(repeatedIn(text), key, text)
  t.match(hasRepeated('a').message, "'a'")
})

t.test('other texts have none', async (t) => {
  for (const text of ['1', 'null', '":"', '{}', '{"a":{"a":{"a":":"}}}', '[{"a":1},{"a":1}]', '{"a:b":"c:d","a":1}'])
    t.equal(repeatedIn(text), undefined, text)
  fc.assert(fc.property(fc.json(), (text) => repeatedIn(text) === undefined))
})

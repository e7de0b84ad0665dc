import t from 'tap'
import { nameWarnings } from '../../../../services/tables/names/name-warnings.ts'

t.test('names that generators handle cause no warning', async (t) => {
  t.strictSame(nameWarnings(['id', 'my col', 'myOther', 'größe', 'a-b', '1st', '__proto__']), [])
})

t.test('names that become the same in generated code are reported together', async (t) => {
  t.match(nameWarnings(['my col', 'x', 'my_col', 'MyCol']), [
    /'my col' and 'my_col' become the same name/,
    /'my_col' and 'MyCol' become the same name/
  ])
})

t.test('names with unsafe characters, or without any letter, are reported', async (t) => {
  for (const name of ['a"b', "a'b", 'a`b', 'a\\b', 'a\nb', 'a*/b', 'a\u2028b']) {
    t.match(nameWarnings([name]), [/has quotes, backslashes or control characters/], encodeURIComponent(name))
  }
  t.match(nameWarnings(['', '日本', '"']), [
    /'' has no ASCII letter or digit/,
    /'日本' has no ASCII letter/,
    /'"' has no ASCII letter/
  ])
})

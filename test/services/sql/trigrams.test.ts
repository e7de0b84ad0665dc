import t from 'tap'
import { matchAll, matchAny, matchOf } from '../../../services/sql/trigrams.ts'

t.test('a match has the trigrams of the text', async (t) => {
  t.equal(matchOf('abcd', false), '"abc" AND "bcd"')
  t.equal(matchOf('aaaaa', false), '"aaa"')
  t.equal(matchOf('a"b', false), '"a""b"')
  t.equal(matchOf('\u{1F600}ab', false), '"\u{1F600}ab"')
  t.equal(matchOf('ab', true), null)
  t.equal(matchOf(Array.from({ length: 99 }, (_, index) => index).join(''), false)?.split(' AND ').length, 32)
})

t.test('a last character that is not ASCII counts only if the text is whole', async (t) => {
  t.equal(matchOf('abcé', false), '"abc"')
  t.equal(matchOf('abé', false), null)
  t.equal(matchOf('abé', true), '"abé"')
})

t.test('a match of several conditions leaves out those that are null or too long', async (t) => {
  t.equal(matchAll([]), null)
  t.equal(matchAll([null, null]), null)
  t.equal(matchAll(['a', null, 'b']), '(a) AND (b)')
  t.equal(matchAll(['a', 'b'.repeat(9000), 'c']), '(a) AND (c)')
})

t.test('any of several matches is null if one is null or all are too long', async (t) => {
  t.equal(matchAny([]), null)
  t.equal(matchAny(['a', 'b']), '(a) OR (b)')
  t.equal(matchAny(['a', null]), null)
  t.equal(matchAny(['a', 'b'.repeat(9000)]), null)
})

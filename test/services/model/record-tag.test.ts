import t from 'tap'
import { recordTag } from '../../../services/model/record-tag.ts'

t.test('a tag is a strong one, with its quotes, and depends on nothing but the text', async (t) => {
  t.equal(recordTag('{"id":7}'), recordTag('{"id":7}'))
  t.match(recordTag('{"id":7}'), /^"[\w-]{22}"$/)
  const texts = ['{"id":7}', '{"id":"7"}', '{"id":7.0}', '{}', '', '{"a":"\u{1f600}"}', '{"a":"\ufffd"}']
  t.equal(new Set(texts.map(recordTag)).size, texts.length)
})

t.test('a tag is stable: clients may keep it while the service is updated', async (t) => {
  t.equal(recordTag('{"id":7}'), '"o8kOO3RI0j2erOvQ6_Fcrh"')
})

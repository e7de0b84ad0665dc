import t from 'tap'
import { DomainError, invalid, pointer } from '../../../services/model/errors.ts'

t.test('empty details count as no details', async (t) => {
  t.equal(new DomainError('UNIQUE_VIOLATION', 'Taken.', { details: [] }).details, undefined)
  t.equal(new DomainError('UNIQUE_VIOLATION', 'Taken.').details, undefined)
  const details = [{ path: '/a', code: 'type', message: "'a' must be a string." }]
  t.strictSame(invalid(details).details, details)
})

t.test('a name is escaped in a JSON Pointer', async (t) => {
  t.equal(pointer('a/b~c'), '/a~1b~0c')
  t.equal(pointer(''), '/')
})

import t from 'tap'
import {
  DomainError,
  excerpt,
  hasCode,
  invalid,
  MAX_DETAILS,
  pointer,
  tableNotFound
} from '../../../services/model/errors.ts'

t.test('empty details count as no details', async (t) => {
  t.equal(new DomainError('UNIQUE_VIOLATION', 'Taken.', { details: [] }).details, undefined)
  t.equal(new DomainError('UNIQUE_VIOLATION', 'Taken.').details, undefined)
  const details = [{ path: '/a', code: 'type', message: "'a' must be a string." }]
  t.strictSame(invalid(details).details, details)
})

t.test('at most MAX_DETAILS violations are listed', async (t) => {
  const violations = Array.from({ length: MAX_DETAILS + 1 }, (_, index) => ({
    path: `/f${index}`,
    code: 'type',
    message: `'f${index}' must be a string.`
  }))
  const error = invalid(violations, 'Send strings.')
  t.strictSame(error.details, violations.slice(0, MAX_DETAILS))
  t.match(error, { code: 'VALIDATION_FAILED', kind: 'invalid', hint: 'Send strings.' })
  t.notOk(error.message.includes(`'f${MAX_DETAILS}'`))
})

t.test('a code belongs to domain errors only', async (t) => {
  t.ok(hasCode(invalid([]), 'VALIDATION_FAILED'))
  t.notOk(hasCode(invalid([]), 'TABLE_NOT_FOUND'))
  t.notOk(hasCode(Object.assign(new Error('x'), { code: 'VALIDATION_FAILED' }), 'VALIDATION_FAILED'))
})

t.test('a long name is cut in a message, and stays valid Unicode', async (t) => {
  t.equal(excerpt('x'.repeat(200)), 'x'.repeat(200))
  t.equal(excerpt('x'.repeat(201)), `${'x'.repeat(200)}…`)
  t.ok(excerpt(`${'x'.repeat(199)}😀`).isWellFormed())
})

t.test('a name is escaped in a JSON Pointer', async (t) => {
  t.equal(pointer('a/b~c'), '/a~1b~0c')
  t.equal(pointer(''), '/')
})

t.test('a missing table is named by its id or its name', async (t) => {
  t.match(tableNotFound(7), { code: 'TABLE_NOT_FOUND', message: 'There is no table with id 7.' })
  t.match(tableNotFound('cats'), { code: 'TABLE_NOT_FOUND', message: "There is no table 'cats'." })
})

import t from 'tap'
import { UnexpectedChanges } from '../../../../services/engine/database.ts'
import { toDomainError, toReadError, toViewError } from '../../../../services/engine/loop/sqlite-errors.ts'
import { toPlainError } from '../../../../services/engine/shared/plain-error.ts'
import { DomainError } from '../../../../services/model/errors.ts'

const of = (code: string, message = '') => toDomainError({ code, message })

t.test('an error becomes a plain error with code and message', async (t) => {
  t.strictSame(toPlainError(Object.assign(new Error('no'), { code: 'SQLITE_FULL' })), {
    code: 'SQLITE_FULL',
    message: 'no'
  })
  t.strictSame(toPlainError(new TypeError('no')), { code: '', message: 'no' })
  t.strictSame(toPlainError('no'), { code: '', message: '' })
  t.strictSame(toPlainError(new UnexpectedChanges(2)), {
    code: 'UNEXPECTED_CHANGES',
    message: 'Statement 2 of the unit changed another number of rows than expected.',
    statement: 2
  })
})

t.test('an error carries the position of its statement, if a statement failed', async (t) => {
  for (const [code, message] of [
    ['SQLITE_CONSTRAINT_UNIQUE', 'UNIQUE constraint failed: cats.name'],
    ['SQLITE_ERROR', 'no such table: cats'],
    ['SQLITE_ERROR', 'near "SELEC": syntax error']
  ] as const) {
    const [without, error] = [toDomainError({ code, message }), toDomainError({ code, message, statement: 2 })]
    t.equal(Reflect.get(without, 'statement'), undefined, message)
    t.equal(error.message, without.message)
    for (const name of ['code', 'details', 'hint', 'retryAfter'])
      t.strictSame(Reflect.get(error, name), Reflect.get(without, name), `${message}: ${name}`)
    t.match(toPlainError(error), { statement: 2 }, message)
  }
})

t.test('UnexpectedChanges is restored from a plain error', async (t) => {
  const error = toDomainError(toPlainError(new UnexpectedChanges(3)))
  t.type(error, UnexpectedChanges)
  t.match(error, { statement: 3 })
})

t.test('each code that a caller can act on has a domain error', async (t) => {
  const expected: Record<string, string> = {
    SQLITE_CONSTRAINT_UNIQUE: 'UNIQUE_VIOLATION',
    SQLITE_CONSTRAINT_PRIMARYKEY: 'UNIQUE_VIOLATION',
    SQLITE_CONSTRAINT_ROWID: 'UNIQUE_VIOLATION',
    SQLITE_CONSTRAINT_FOREIGNKEY: 'FOREIGN_KEY_VIOLATION',
    SQLITE_CONSTRAINT_NOTNULL: 'CONSTRAINT_VIOLATION',
    SQLITE_CONSTRAINT_TRIGGER: 'REFUSED_BY_TRIGGER',
    SQLITE_CONSTRAINT_CHECK: 'CONSTRAINT_VIOLATION',
    SQLITE_CONSTRAINT_DATATYPE: 'CONSTRAINT_VIOLATION',
    SQLITE_MISMATCH: 'CONSTRAINT_VIOLATION',
    SQLITE_TOOBIG: 'CONSTRAINT_VIOLATION',
    SQLITE_FULL: 'DISK_FULL',
    ENOSPC: 'DISK_FULL',
    EACCES: 'STORAGE_UNAVAILABLE',
    EPERM: 'STORAGE_UNAVAILABLE',
    SQLITE_BUSY: 'DATABASE_BUSY',
    SQLITE_BUSY_SNAPSHOT: 'DATABASE_BUSY',
    SQLITE_LOCKED: 'DATABASE_BUSY',
    SQLITE_IOERR_FSYNC: 'STORAGE_UNAVAILABLE',
    SQLITE_CANTOPEN: 'STORAGE_UNAVAILABLE',
    SQLITE_READONLY_DBMOVED: 'STORAGE_UNAVAILABLE',
    SQLITE_PROTOCOL: 'STORAGE_UNAVAILABLE',
    SCAN_TIMEOUT: 'SCAN_TIMEOUT',
    RESULTS_TOO_LARGE: 'RESULTS_TOO_LARGE',
    UNIT_EXPIRED: 'TOO_MUCH_WORK',
    ENGINE_STOPPED: 'OVERLOADED',
    PROCESS_ENDED: 'OVERLOADED'
  }
  for (const [code, domain] of Object.entries(expected)) {
    const error = of(code)
    t.type(error, DomainError, code)
    t.match(error, { code: domain }, code)
  }
})

t.test('a search that took too long has no time for a retry', async (t) => {
  t.equal(Reflect.get(of('SCAN_TIMEOUT', 'too long'), 'retryAfter'), undefined)
  t.equal(Reflect.get(of('SQLITE_BUSY'), 'retryAfter'), 1)
})

t.test('a violation names the columns with their table', async (t) => {
  t.match(of('SQLITE_CONSTRAINT_UNIQUE', 'UNIQUE constraint failed: cats.name, cats.owner'), {
    details: [
      { path: '/cats.name', code: 'unique', message: "'cats.name' is taken." },
      { path: '/cats.owner', code: 'unique', message: "'cats.owner' is taken." }
    ]
  })
  t.match(of('SQLITE_CONSTRAINT_NOTNULL', 'NOT NULL constraint failed: cats.a/b'), {
    details: [{ path: '/cats.a~1b', code: 'required', message: "'cats.a/b' must not be null." }]
  })
})

t.test('a violation of an index on expressions has no details', async (t) => {
  for (const text of ["UNIQUE constraint failed: index 'folded.a, folded.b'", 'another text']) {
    t.equal(Reflect.get(of('SQLITE_CONSTRAINT_UNIQUE', text), 'details'), undefined, text)
  }
})

t.test('a violation has what SQLite reports as its cause, apart from its message', async (t) => {
  const reported = (code: string, message: string) => {
    const error = of(code, message)
    t.notMatch(error.message, /secret/, message)
    return Reflect.get(error, 'reported')
  }
  t.equal(reported('SQLITE_CONSTRAINT_CHECK', 'CHECK constraint failed: secret > 0'), 'secret > 0')
  t.equal(reported('SQLITE_CONSTRAINT_TRIGGER', 'a secret'), 'a secret')
  t.equal(reported('SQLITE_CONSTRAINT_UNIQUE', "UNIQUE constraint failed: index 'a''secret'"), "a'secret")
  t.equal(reported('SQLITE_CONSTRAINT_UNIQUE', 'UNIQUE constraint failed: t.secret'), undefined)
  t.match(toDomainError({ code: 'SQLITE_CONSTRAINT_TRIGGER', message: 'a', statement: 1 }), { reported: 'a' })
})

t.test('a foreign key that restricts is not reported as a trigger', async (t) => {
  t.match(of('SQLITE_CONSTRAINT_TRIGGER', 'FOREIGN KEY constraint failed'), { code: 'FOREIGN_KEY_VIOLATION' })
})

t.test('an extended code of SQLITE_ERROR is distinguished by its message', async (t) => {
  const error = of('SQLITE_ERROR_MISSING_COLLSEQ', 'no such collation sequence: custom')
  t.match(error, { code: 'STRUCTURE_CHANGED', message: /a collation that only another program has/ })
  t.notMatch(of('SQLITE_ERROR_SNAPSHOT', 'another text'), { code: 'STRUCTURE_CHANGED' })
})

t.test('errors with the code SQLITE_ERROR are distinguished by their message', async (t) => {
  const texts: Record<string, string> = {
    'table "a" already exists': 'TABLE_EXISTS',
    'there is already another table or index with this name: a': 'TABLE_EXISTS',
    'duplicate column name: a': 'FIELD_EXISTS',
    'no such table: main.a': 'STRUCTURE_CHANGED',
    'no such table: a': 'STRUCTURE_CHANGED',
    'no such column: "a"': 'STRUCTURE_CHANGED',
    'no such collation sequence: custom': 'STRUCTURE_CHANGED',
    'no such function: custom': 'STRUCTURE_CHANGED',
    'unknown function: custom()': 'STRUCTURE_CHANGED',
    'unsafe use of custom()': 'STRUCTURE_CHANGED',
    'cannot modify a because it is a view': 'STRUCTURE_CHANGED',
    'cannot INSERT into generated column "a"': 'STRUCTURE_CHANGED',
    'cannot UPDATE generated column "a"': 'STRUCTURE_CHANGED',
    'table a has no column named b': 'STRUCTURE_CHANGED',
    'foreign key mismatch - "a" referencing "b"': 'STRUCTURE_CHANGED',
    'cannot drop UNIQUE column: "a"': 'STRUCTURE_IN_USE',
    'malformed JSON': 'CONSTRAINT_VIOLATION',
    "bad JSON path: 'a'": 'CONSTRAINT_VIOLATION',
    'JSON cannot hold BLOB values': 'CONSTRAINT_VIOLATION',
    'integer overflow': 'CONSTRAINT_VIOLATION',
    'LIKE or GLOB pattern too complex': 'CONSTRAINT_VIOLATION',
    'ESCAPE expression must be a single character': 'CONSTRAINT_VIOLATION',
    'non-deterministic use of date() in a CHECK constraint': 'CONSTRAINT_VIOLATION'
  }
  for (const [text, code] of Object.entries(texts)) t.match(of('SQLITE_ERROR', text), { code }, text)
})

t.test('a declaration that prevents a change is named with its reason', async (t) => {
  const quotes = ' - should this be a string literal in single-quotes?'
  const messages: Record<string, string> = {
    'error in view a: no such function: custom': "The view 'a' prevents the change: no such function: custom.",
    [`error in table a after drop column: no such column: "b"${quotes}`]:
      'The table \'a\' prevents the change: no such column: "b".',
    [`error in table a: no such column: "b"${quotes}`]:
      'The table \'a\' prevents the change: it has the text "b" in double quotes, which are for names.'
  }
  for (const [text, message] of Object.entries(messages))
    t.match(of('SQLITE_ERROR', text), { code: 'STRUCTURE_IN_USE', message }, text)
})

t.test('only failures that a refresh can fix have the hint to refresh', async (t) => {
  for (const text of [
    'no such function: custom',
    'unknown function: custom()',
    'no such collation sequence: custom',
    'unsafe use of custom()'
  ]) {
    const error = of('SQLITE_ERROR', text)
    t.match(error, { message: /function or a collation that only another program has/ }, text)
    t.notMatch(Reflect.get(error, 'hint'), /refresh/i, text)
  }
  for (const text of ['no such column: "a"', 'cannot modify a because it is a view']) {
    t.match(of('SQLITE_ERROR', text), { hint: /^Refresh the table/ }, text)
  }
})

t.test('a text that is too large is a response for reads and a value for writes', async (t) => {
  const plain = { code: 'SQLITE_TOOBIG', message: 'string or blob too big' }
  t.match(toReadError(plain), { code: 'RESPONSE_TOO_LARGE', hint: /smaller `size`/ })
  t.match(toDomainError(plain), { code: 'CONSTRAINT_VIOLATION' })
  t.match(toReadError({ code: 'SQLITE_BUSY', message: '' }), { code: 'DATABASE_BUSY' })
})

t.test(
  'an expression that fails is about the values of a write, and about a record or view that is read',
  async (t) => {
    const plain = { code: 'SQLITE_ERROR', message: 'integer overflow' }
    t.match(toDomainError(plain), { code: 'CONSTRAINT_VIOLATION' })
    t.match(toReadError(plain), {
      code: 'STRUCTURE_CHANGED',
      message: /^A generated column .* fails for one of its records/
    })
    t.match(toViewError(plain), { message: 'SQLite cannot compute the view: integer overflow.' })
    t.match(toViewError({ code: 'SQLITE_BUSY', message: '' }), { code: 'DATABASE_BUSY' })
  }
)

t.test('the cause is the code and the message of SQLite', async (t) => {
  const plain = { code: 'SQLITE_IOERR_FSYNC', message: 'disk I/O error' }
  for (const error of [toReadError(plain), toDomainError(plain), toDomainError({ ...plain, statement: 1 })])
    t.match(error, { code: 'STORAGE_UNAVAILABLE', cause: 'SQLITE_IOERR_FSYNC: disk I/O error' })
})

t.test('a defect of this service stays an unknown error with its code for the log', async (t) => {
  for (const code of ['SQLITE_ERROR', 'SQLITE_CORRUPT', '']) {
    const error = of(code, 'near "SELEC": syntax error')
    t.notOk(error instanceof DomainError, code)
    t.match(error, { code, message: 'near "SELEC": syntax error' })
  }
})

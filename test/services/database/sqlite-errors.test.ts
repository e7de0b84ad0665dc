import t from 'tap'
import { UnexpectedChanges } from '../../../services/database/database.ts'
import { toDomainError, toPlainError } from '../../../services/database/sqlite-errors.ts'
import { DomainError } from '../../../services/errors.ts'

const of = (code: string, message = '') => toDomainError({ code, message })

t.test('an error crosses a thread as code and message', async (t) => {
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

t.test('a missed expectation comes back as what it was', async (t) => {
  const error = toDomainError(toPlainError(new UnexpectedChanges(3)))
  t.type(error, UnexpectedChanges)
  t.match(error, { statement: 3 })
})

t.test('each code that callers can do something about has a domain error', async (t) => {
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
    SQLITE_BUSY: 'DATABASE_BUSY',
    SQLITE_BUSY_SNAPSHOT: 'DATABASE_BUSY',
    SQLITE_LOCKED: 'DATABASE_BUSY',
    SQLITE_IOERR_FSYNC: 'STORAGE_UNAVAILABLE',
    SQLITE_CANTOPEN: 'STORAGE_UNAVAILABLE',
    SQLITE_READONLY_DBMOVED: 'STORAGE_UNAVAILABLE',
    SQLITE_PROTOCOL: 'STORAGE_UNAVAILABLE',
    SCAN_TIMEOUT: 'SCAN_TIMEOUT',
    SCAN_STOPPED: 'OVERLOADED',
    ENGINE_STOPPED: 'OVERLOADED'
  }
  for (const [code, domain] of Object.entries(expected)) {
    const error = of(code)
    t.type(error, DomainError, code)
    t.match(error, { code: domain }, code)
  }
})

t.test('a violation names the columns', async (t) => {
  t.match(of('SQLITE_CONSTRAINT_UNIQUE', 'UNIQUE constraint failed: cats.name, cats.owner'), {
    details: [
      { path: '/name', code: 'unique', message: "'name' is taken." },
      { path: '/owner', code: 'unique', message: "'owner' is taken." }
    ]
  })
  t.match(of('SQLITE_CONSTRAINT_NOTNULL', 'NOT NULL constraint failed: cats.name'), {
    details: [{ path: '/name', code: 'required', message: "'name' must not be null." }]
  })
})

t.test('a violation of an index on expressions names no column', async (t) => {
  t.strictSame(Reflect.get(of('SQLITE_CONSTRAINT_UNIQUE', "UNIQUE constraint failed: index 'folded'"), 'details'), [])
  t.strictSame(Reflect.get(of('SQLITE_CONSTRAINT_UNIQUE', 'another text'), 'details'), [])
})

t.test('what has only the plain code is told apart by its text', async (t) => {
  const texts: Record<string, string> = {
    'table "a" already exists': 'TABLE_EXISTS',
    'there is already another table or index with this name: a': 'TABLE_EXISTS',
    'duplicate column name: a': 'FIELD_EXISTS',
    'no such table: main.a': 'STRUCTURE_CHANGED',
    'no such column: "a"': 'STRUCTURE_CHANGED',
    'no such collation sequence: theirs': 'STRUCTURE_CHANGED',
    'no such function: theirs': 'STRUCTURE_CHANGED',
    'table a has no column named b': 'STRUCTURE_CHANGED',
    'foreign key mismatch - "a" referencing "b"': 'STRUCTURE_CHANGED'
  }
  for (const [text, code] of Object.entries(texts)) t.match(of('SQLITE_ERROR', text), { code }, text)
})

t.test('a fault of ours stays unknown, with its code for the log', async (t) => {
  for (const code of ['SQLITE_ERROR', 'SQLITE_CORRUPT', '']) {
    const error = of(code, 'near "SELEC": syntax error')
    t.notOk(error instanceof DomainError, code)
    t.match(error, { code, message: 'near "SELEC": syntax error' })
  }
})

import { answerTooLarge, DomainError, overloaded, pointer } from '../../model/errors.ts'
import { UnexpectedChanges } from '../database.ts'
import type { PlainError } from '../shared/plain-error.ts'

/** `UNIQUE constraint failed: t.a, t.b` names the columns; an index on expressions names only itself. */
const columnsOf = (message: string) => {
  const list = /constraint failed: (.*)$/s.exec(message)?.[1] ?? ''
  return list.split(', ').filter((item) => item.includes('.'))
}

/** The columns as SQLite names them, `table.column`: only who knows the table can tell where its name ends. */
const details = (message: string, code: string, says: string) =>
  columnsOf(message).map((column) => ({ path: pointer(column), code, message: `'${column}' ${says}.` }))

const busy = () => new DomainError('DATABASE_BUSY', 'Another program holds the database. Try again.', { retryAfter: 1 })

const storage = () =>
  new DomainError('STORAGE_UNAVAILABLE', 'The disk refuses to read or write. Nothing was acknowledged.', {
    retryAfter: 5
  })

const structureChanged = () =>
  new DomainError('STRUCTURE_CHANGED', 'SQLite cannot use the stored table as it is registered.', {
    hint: 'Refresh the table: POST /admin/tables/:id/refresh.'
  })

const foreignCode = () =>
  new DomainError(
    'STRUCTURE_CHANGED',
    'The stored table needs a function or a collation that only another program has.',
    {
      hint: 'Write to it through that program, or change the table so that it does without.'
    }
  )

const parentMissing = () =>
  new DomainError(
    'STRUCTURE_CHANGED',
    'A foreign key or a trigger of the stored table names another table that is not there, or has no such key.',
    { hint: 'Create that table as it is expected to be, or change this one, with the program that made them.' }
  )

const notWritable = () =>
  new DomainError('STRUCTURE_CHANGED', 'SQLite cannot write to the stored table as it is registered.', {
    hint: 'Refresh the table: POST /admin/tables/:id/refresh. Views cannot be written to, nor can generated columns.'
  })

const constraint = (message: string) =>
  new DomainError('CONSTRAINT_VIOLATION', message, { hint: 'The schema lists the fields and their types.' })

const incomputable = () =>
  constraint('An expression of the table (a check, an index, a default or a generated column) fails for the values.')

const incomputableRecord = () =>
  new DomainError('STRUCTURE_CHANGED', 'A generated column of the stored table fails for one of its records.', {
    hint: 'Correct the record, or hide the column, if you may: PUT /admin/tables/:id.'
  })

/**
 * SQLite's extended result codes (https://sqlite.org/rescode.html) as domain errors. Primary codes stand for all of
 * their extended ones that are not listed.
 */
const byCode: Record<string, (message: string) => DomainError> = {
  SQLITE_CONSTRAINT_UNIQUE: (message) =>
    new DomainError('UNIQUE_VIOLATION', 'A value that must be unique is taken.', {
      details: details(message, 'unique', 'is taken')
    }),
  SQLITE_CONSTRAINT_FOREIGNKEY: () =>
    new DomainError('FOREIGN_KEY_VIOLATION', 'A foreign key would point to a record that does not exist.', {
      hint: 'Create the record that is pointed to first, or change what points to this one.'
    }),
  SQLITE_CONSTRAINT_NOTNULL: (message) =>
    new DomainError('CONSTRAINT_VIOLATION', 'A field of the table must not be null.', {
      details: details(message, 'required', 'must not be null')
    }),
  SQLITE_CONSTRAINT_TRIGGER: () =>
    new DomainError('REFUSED_BY_TRIGGER', 'A trigger of the database refused the change.'),
  SQLITE_CONSTRAINT: () => constraint('A constraint of the table refuses the value.'),
  SQLITE_MISMATCH: () => constraint('The value has a type that the table refuses.'),
  SQLITE_TOOBIG: () => constraint('The value is larger than SQLite stores.'),
  SQLITE_FULL: () => new DomainError('DISK_FULL', 'The disk is full. Nothing was changed.'),
  SQLITE_BUSY: busy,
  SQLITE_LOCKED: busy,
  SQLITE_IOERR: storage,
  SQLITE_CANTOPEN: storage,
  SQLITE_READONLY: storage,
  SQLITE_PROTOCOL: storage,
  SCAN_TIMEOUT: (message) => new DomainError('SCAN_TIMEOUT', message, { retryAfter: 30 }),
  ENGINE_STOPPED: (message) => overloaded(message, 5)
}
byCode.SQLITE_CONSTRAINT_PRIMARYKEY = byCode.SQLITE_CONSTRAINT_UNIQUE as (message: string) => DomainError
byCode.SQLITE_CONSTRAINT_ROWID = byCode.SQLITE_CONSTRAINT_UNIQUE as (message: string) => DomainError

/** What SQLite says of an expression that cannot be computed. Of ours none fails, whatever the values are. */
const INCOMPUTABLE =
  /^malformed JSON|^bad JSON path|^JSON path error|^JSON cannot hold|^integer overflow|pattern too complex|^ESCAPE expression|^non-deterministic use of/

/** SQLite gives these the code SQLITE_ERROR, or one that begins so; only the text tells them apart. */
const byMessage: readonly (readonly [RegExp, () => DomainError])[] = [
  [
    /already exists|already another table or index/,
    () => new DomainError('TABLE_EXISTS', 'The name is taken in the database.')
  ],
  [/duplicate column name/, () => new DomainError('FIELD_EXISTS', 'The table has a field of this name already.')],
  [/^no such (?:function|collation sequence)|^unknown function|^unsafe use of /, foreignCode],
  [/because it is a view$|^cannot (?:INSERT into|UPDATE) generated column/, notWritable],
  [INCOMPUTABLE, incomputable],
  [/^foreign key mismatch|^no such table: main\./, parentMissing],
  [/^no such (?:table|column)|has no column named/, structureChanged]
]

const domainErrorOf = (code: string, message: string): DomainError | undefined => {
  const primary = code.split('_').slice(0, 2).join('_')
  const create = byCode[code] ?? byCode[primary]
  if (create) return create(message)
  return primary === 'SQLITE_ERROR' ? byMessage.find(([pattern]) => pattern.test(message))?.[1]() : undefined
}

/**
 * Returns the domain error for a failure of SQLite, with the position of the statement that failed. A failure that only
 * a defect of this service can cause stays an unknown error, with SQLite's code and message.
 */
export const toDomainError = (plain: PlainError): Error => {
  const { code, message, statement } = plain
  if (code === 'UNEXPECTED_CHANGES' && statement !== undefined) return new UnexpectedChanges(statement)
  const error = domainErrorOf(code, message)
  if (!error) return Object.assign(new Error(message), plain)
  return statement === undefined ? error : new DomainError(error.code, error.message, { ...error, statement })
}

/** The same for reads, where no value was sent: what SQLite cannot make at once is a page of large records. */
export const toReadError = (error: PlainError): Error => {
  if (error.code === 'SQLITE_TOOBIG') return answerTooLarge()
  return INCOMPUTABLE.test(error.message) ? incomputableRecord() : toDomainError(error)
}

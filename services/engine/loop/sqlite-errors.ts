import {
  DomainError,
  disconnected,
  overloaded,
  pointer,
  responseTooLarge,
  resultsTooLarge,
  tooMuchUnread
} from '../../model/errors.ts'
import { UnexpectedChanges } from '../database.ts'
import { type InTheWay, readInTheWay } from '../shared/in-the-way.ts'
import type { PlainError } from '../shared/plain-error.ts'

/** Returns what SQLite's message names: a CHECK, or columns. */
const reportedBy = (message: string) => /constraint failed: (.*)$/s.exec(message)?.[1]

/** Returns the name of an index on expressions, which SQLite's message has as a literal. */
const indexIn = (message: string) => /: index '(.*)'$/s.exec(message)?.[1]?.replaceAll("''", "'")

/** SQLite's message names the columns: `UNIQUE constraint failed: t.a, t.b`. For an index on expressions it does not. */
const columnsOf = (message: string) => {
  const list = indexIn(message) === undefined ? (reportedBy(message) ?? '') : ''
  return list.split(', ').filter((item) => item.includes('.'))
}

/** Columns stay in SQLite's form, `table.column`: names may contain dots, so only a view of the table can split them. */
const details = (message: string, code: string, text: string) =>
  columnsOf(message).map((column) => ({ path: pointer(column), code, message: `'${column}' ${text}.` }))

const diskFull = () => new DomainError('DISK_FULL', 'The disk is full. Nothing was changed.')

const busy = () =>
  new DomainError('DATABASE_BUSY', 'Another program has locked the database. Try again.', { retryAfter: 1 })

const storageUnavailable = () =>
  new DomainError('STORAGE_UNAVAILABLE', 'The disk failed during a read or a write. No change was acknowledged.', {
    retryAfter: 5
  })

/** A command that another user ran has made the file. */
const notPermitted = () =>
  new DomainError('STORAGE_UNAVAILABLE', 'The service may not read or write one of its files.', {
    hint: 'Give the user of the service the permission, and run commands as this user.'
  })

const backupInvalid = (message: string) =>
  new DomainError('BACKUP_INVALID', message, {
    hint: 'GET /admin/backups lists the backups that Rowhouse has made.'
  })

const rightsConflict = (problems: string) =>
  new DomainError('RIGHTS_CONFLICT', `The roles of the backup are not restored: ${problems}`, {
    hint: 'Restore without `include=access`: the present roles and tokens stay.'
  })

const tookTooLong = () =>
  new DomainError('TOO_MUCH_WORK', 'The changes of the request took too long. Nothing was changed.', {
    hint: 'Send fewer operations, records or bytes in each request.'
  })

const tooManyLevels = () =>
  new DomainError(
    'CONSTRAINT_VIOLATION',
    'The change runs through more than 1,000 levels of triggers or foreign key actions.',
    { hint: 'Change the last of the records that refer to each other first.' }
  )

const structureChanged = () =>
  new DomainError('STRUCTURE_CHANGED', 'The stored table has changed since it was registered.', {
    hint: 'Refresh the table: POST /admin/tables/:id/refresh.'
  })

const missingExtension = () =>
  new DomainError(
    'STRUCTURE_CHANGED',
    'The stored table needs a function or a collation that only another program has.',
    { hint: 'Use that program to write to the table, or change the table so that it does not need them.' }
  )

const missingParent = () =>
  new DomainError(
    'STRUCTURE_CHANGED',
    'A foreign key or a trigger of the stored table refers to a table that does not exist or has no such key.',
    { hint: 'Use the program that created the tables to create the missing table or key, or to change this table.' }
  )

const notWritable = () =>
  new DomainError(
    'STRUCTURE_CHANGED',
    'SQLite cannot write to the stored table or to one of its fields: it is a view or a generated column now.',
    { hint: 'Refresh the table: POST /admin/tables/:id/refresh.' }
  )

const constraint = (message: string, reported?: string) =>
  new DomainError('CONSTRAINT_VIOLATION', message, {
    hint: 'GET /data/:table/schema lists the fields and their types; for administrators, GET /admin/tables/:id.',
    reported
  })

const foreignKey = () =>
  new DomainError('FOREIGN_KEY_VIOLATION', 'A foreign key would refer to a record that does not exist.', {
    hint: 'Create the referenced record first, or change the records that refer to this one.'
  })

/** SQLite's message for a foreign key. A key with RESTRICT has the code of a trigger, because it is an internal one. */
const FOREIGN_KEY_FAILED = 'FOREIGN KEY constraint failed'

const refusedByTrigger = (message: string) =>
  message === FOREIGN_KEY_FAILED
    ? foreignKey()
    : new DomainError('REFUSED_BY_TRIGGER', 'A trigger of the database refused the change.', { reported: message })

const failedExpression = () =>
  constraint('An expression of the table (a check, an index, a default or a generated column) fails for these values.')

const failedGeneratedColumn = (message: string) =>
  new DomainError('STRUCTURE_CHANGED', 'A generated column of the stored table fails for one of its records.', {
    hint: 'Correct the record, or hide the column: PUT /admin/tables/:id.',
    reported: message
  })

/**
 * SQLite's extended result codes (https://sqlite.org/rescode.html) as domain errors. A primary code also covers its
 * extended codes that are not listed.
 */
const byCode: Record<string, (message: string) => DomainError> = {
  SQLITE_CONSTRAINT_UNIQUE: (message) =>
    new DomainError('UNIQUE_VIOLATION', 'A value that must be unique is taken.', {
      details: details(message, 'unique', 'is taken'),
      reported: indexIn(message)
    }),
  SQLITE_CONSTRAINT_FOREIGNKEY: foreignKey,
  SQLITE_CONSTRAINT_NOTNULL: (message) =>
    new DomainError('CONSTRAINT_VIOLATION', 'A field of the table must not be null.', {
      details: details(message, 'required', 'must not be null')
    }),
  SQLITE_CONSTRAINT_TRIGGER: refusedByTrigger,
  SQLITE_CONSTRAINT_CHECK: (message) =>
    constraint('The value violates a constraint of the table.', reportedBy(message)),
  SQLITE_CONSTRAINT: () => constraint('The value violates a constraint of the table.'),
  SQLITE_MISMATCH: () => constraint('The table does not accept the type of the value.'),
  SQLITE_TOOBIG: () => constraint('The value is larger than SQLite can store.'),
  SQLITE_FULL: diskFull,
  ENOSPC: diskFull,
  EACCES: notPermitted,
  EPERM: notPermitted,
  SQLITE_BUSY: busy,
  SQLITE_LOCKED: busy,
  SQLITE_IOERR: storageUnavailable,
  SQLITE_CANTOPEN: storageUnavailable,
  SQLITE_READONLY: storageUnavailable,
  SQLITE_PROTOCOL: storageUnavailable,
  BACKUP_INVALID: backupInvalid,
  RIGHTS_CONFLICT: rightsConflict,
  RESULTS_TOO_LARGE: resultsTooLarge,
  TOO_MUCH_UNREAD: tooMuchUnread,
  UNIT_EXPIRED: tookTooLong,
  SCAN_ABORTED: disconnected,
  SCAN_TIMEOUT: (message) => new DomainError('SCAN_TIMEOUT', message),
  ENGINE_STOPPED: (message) => overloaded(message, 5),
  PROCESS_ENDED: (message) => overloaded(message, 1)
}
byCode.SQLITE_CONSTRAINT_PRIMARYKEY = byCode.SQLITE_CONSTRAINT_UNIQUE as (message: string) => DomainError
byCode.SQLITE_CONSTRAINT_ROWID = byCode.SQLITE_CONSTRAINT_UNIQUE as (message: string) => DomainError

/** SQLite's messages for expressions that fail for some values. Of the expressions of Rowhouse itself, only a sum fails. */
const FAILED_EXPRESSION =
  /^malformed JSON|^bad JSON path|^JSON path error|^JSON cannot hold|^integer overflow|pattern too complex|^ESCAPE expression|^non-deterministic use of/

/** A declaration of a program whose SQLite takes "text" for a text: https://sqlite.org/quirks.html#dblquote */
const QUOTED_TEXT = / - should this be a string literal in single-quotes\?$/

const quotedText = (declaration: string, text: string) =>
  new DomainError(
    'STRUCTURE_IN_USE',
    `The ${declaration} prevents the change: it has the text ${text} in double quotes, which are for names.`,
    {
      hint: 'Write the text in single quotes there, with the program that created it. Until then, no table or field of the file can be renamed, and no field dropped.'
    }
  )

const structureInUse = ({ type, name, after, reason: reported }: InTheWay) => {
  const reason = reported.replace(QUOTED_TEXT, '')
  // SQLite compiles everything before it drops a column, too: here the name is that of the column.
  const isText = after !== ' after drop column' && reason !== reported
  if (isText) return quotedText(`${type} '${name}'`, reason.replace('no such column: ', ''))
  return new DomainError('STRUCTURE_IN_USE', `The ${type} '${name}' prevents the change: ${reason}.`, {
    hint: 'Drop or change it first, with the program that created it.'
  })
}

const columnOfKey = () =>
  new DomainError('STRUCTURE_IN_USE', 'The stored table declares the field as its key or as unique.')

/** Since SQLite 3.54. Only CREATE TABLE may declare such a name. */
const ROWID_ALIAS = /^cannot (?:add|drop|rename from|rename to) rowid alias: (.+)$/

const aliasOfRowid = (message: string) =>
  new DomainError(
    'STRUCTURE_IN_USE',
    `SQLite uses the name '${ROWID_ALIAS.exec(message)?.[1]}' for the rowid, so a field cannot be added, renamed or dropped with it.`,
    { hint: 'Choose another name, or create a new table with this field.' }
  )

/** For SQLITE_ERROR and its extended codes: only the message distinguishes these errors. */
const byMessage: readonly (readonly [RegExp, (message: string) => DomainError])[] = [
  [
    /already exists|already another table or index/,
    () => new DomainError('TABLE_EXISTS', 'The name is already used in the database.')
  ],
  [/duplicate column name/, () => new DomainError('FIELD_EXISTS', 'The table already has a field with this name.')],
  [/^cannot drop (?:PRIMARY KEY|UNIQUE) column/, columnOfKey],
  [ROWID_ALIAS, aliasOfRowid],
  [/^no such (?:function|collation sequence)|^unknown function|^unsafe use of /, missingExtension],
  [/because it is a view$|^cannot (?:INSERT into|UPDATE) generated column/, notWritable],
  [FAILED_EXPRESSION, failedExpression],
  [/^triggers nested too deep/, tooManyLevels],
  [/^foreign key mismatch|^no such table: main\./, missingParent],
  [/^no such (?:table|column)|has no column named/, structureChanged]
]

const domainErrorOf = (code: string, message: string): DomainError | undefined => {
  const primary = code.split('_').slice(0, 2).join('_')
  const create = byCode[code] ?? byCode[primary]
  if (create) return create(message)
  const inTheWay = readInTheWay(message)
  if (inTheWay) return structureInUse(inTheWay)
  return primary === 'SQLITE_ERROR' ? byMessage.find(([pattern]) => pattern.test(message))?.[1](message) : undefined
}

/**
 * Returns the domain error for a failure of SQLite, with the position of the failed statement. Its `cause`, for the log,
 * is SQLite's code and message. A failure that only a defect of Rowhouse can cause stays an unknown error, with SQLite's
 * code and message.
 */
export const toDomainError = (plain: PlainError): Error => {
  const { code, message, statement } = plain
  if (code === 'UNEXPECTED_CHANGES' && statement !== undefined) return new UnexpectedChanges(statement)
  const error = domainErrorOf(code, message)
  if (!error) return Object.assign(new Error(message), plain)
  const positioned =
    statement === undefined ? error : new DomainError(error.code, error.message, { ...error, statement })
  return Object.assign(positioned, { cause: `${code}: ${message}` })
}

/** Like `toDomainError`, for reads. A read stores no values, so SQLITE_TOOBIG is about the response. */
export const toReadError = (error: PlainError): Error => {
  if (error.code === 'SQLITE_TOOBIG') return responseTooLarge()
  return FAILED_EXPRESSION.test(error.message) ? failedGeneratedColumn(error.message) : toDomainError(error)
}

/** Whether the SELECT statement of a view can cause the error. All other codes are about the file. */
const VIEW_FAILURES = /^SQLITE_(?:ERROR|MISMATCH|NOMEM)/

const viewFailed = (message: string) =>
  new DomainError('STRUCTURE_CHANGED', `SQLite cannot compute the view: ${message}.`, {
    hint: 'Use the program that created the view to correct it, or the records that it reads.',
    reported: message
  })

/** Like `toReadError`, for statements on SQL views. A view can fail with any message of SQLite. */
export const toViewError = (error: PlainError): Error => {
  if (!VIEW_FAILURES.test(error.code)) return toReadError(error)
  return Object.assign(viewFailed(error.message), { cause: `${error.code}: ${error.message}` })
}

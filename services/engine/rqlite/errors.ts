import type { PlainError } from '../shared/plain-error.ts'

/** SQLite's messages, from which rqlite leaves out the code: https://sqlite.org/rescode.html */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/^UNIQUE constraint failed/, 'SQLITE_CONSTRAINT_UNIQUE'],
  [/^NOT NULL constraint failed/, 'SQLITE_CONSTRAINT_NOTNULL'],
  [/^CHECK constraint failed/, 'SQLITE_CONSTRAINT_CHECK'],
  [/^FOREIGN KEY constraint failed/, 'SQLITE_CONSTRAINT_FOREIGNKEY'],
  [/^cannot store .+ value in .+ column/, 'SQLITE_CONSTRAINT_DATATYPE'],
  [/^datatype mismatch/, 'SQLITE_MISMATCH'],
  [/^string or blob too big/, 'SQLITE_TOOBIG'],
  [/^database or disk is full/, 'SQLITE_FULL'],
  [/^disk I\/O error/, 'SQLITE_IOERR'],
  [/^database (?:schema |table )?is locked(?:$|:)/, 'SQLITE_BUSY'],
  [/^attempt to write a readonly database/, 'SQLITE_READONLY'],
  [/^query timeout$|^sql: transaction has already been committed/, 'SCAN_TIMEOUT']
]

const SCAN_TIMEOUT =
  'The search took longer than 30 s and was stopped. Narrow the search, or add an index on the sorted fields.'

/** Messages of SQLite's compiler and of functions, which have the code SQLITE_ERROR. All others come from RAISE in a trigger. */
const COMPILER =
  /^(?:no such (?:table|column|index|view|trigger|function|module|collation)|near "|table .+ has no column|foreign key mismatch|ambiguous column|cannot (?:add|drop|modify|INSERT into|UPDATE|store|open|start|commit|rollback|use|join) |duplicate column|error in |unknown (?:function|column|table|database|join)|unsafe use|malformed JSON|bad JSON|JSON |integer overflow|non-deterministic|ESCAPE |LIKE or GLOB|too many (?:arguments|columns|attached|terms|references|levels|SQL)|sub-select|row value|misuse|wrong number|unrecognized|incomplete input|view .+ is|there is already|(?:table|view|index|trigger) .+ already exists|parser stack|Expression tree|object name reserved|circularly)/

const knownCode = (message: string) => CODES.find(([pattern]) => pattern.test(message))?.[1]

/** Returns the error of a query with the code that SQLite has for its message. */
export const toQueryError = (message: string): PlainError => {
  const code = knownCode(message) ?? 'SQLITE_ERROR'
  return { code, message: code === 'SCAN_TIMEOUT' ? SCAN_TIMEOUT : message }
}

/** Returns the error of a change with the code that SQLite has for its message. `statement`: its position in the unit. */
export const toChangeError = (message: string, statement?: number): PlainError => {
  const code = knownCode(message) ?? (COMPILER.test(message) ? 'SQLITE_ERROR' : 'SQLITE_CONSTRAINT_TRIGGER')
  return statement === undefined ? { code, message } : { code, message, statement }
}

import BetterSqlite3 from 'better-sqlite3'
import type { SqlValue } from '../../model/sql-value.ts'
import { identifier } from '../../sql/identifiers.ts'
import { LINE_COLUMN, STAGED_TABLE } from '../../sql/imports.ts'
import { toPlainError } from '../shared/plain-error.ts'
import type { ImportError } from './import-errors.ts'
import type { StagedStep, StagingThreadOptions } from './protocol.ts'

/** MiB of database pages. */
const CACHE_SIZE = 16
/** Sets of fields whose statements are kept: records of NDJSON may have different ones. */
const MAX_STATEMENTS = 100

const TABLE = identifier(STAGED_TABLE)
const LINE = identifier(LINE_COLUMN)

const configure = (db: BetterSqlite3.Database) => {
  db.pragma('trusted_schema = OFF')
  // The records are checked against the stored parents later.
  db.pragma('foreign_keys = OFF')
  // The file is lost with the process: nothing reads it after a crash.
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  db.pragma(`cache_size = ${-1024 * CACHE_SIZE}`)
  db.defaultSafeIntegers(true)
}

/** Creates a copy of the empty table, so that SQLite applies all rules of the table to each record. */
const createTable = (db: BetterSqlite3.Database, { table, declarations }: StagingThreadOptions) => {
  for (const declaration of declarations) db.exec(declaration)
  db.exec(`ALTER TABLE ${identifier(table)} ADD COLUMN ${LINE} INTEGER`)
  // On the connection that writes, a statement on a table that was dropped must not find this one.
  db.exec(`ALTER TABLE ${identifier(table)} RENAME TO ${TABLE}`)
}

/** SQLite names columns as `table.column`. */
const columnsIn = (list: string) =>
  list.split(', ').flatMap((item) => (item.startsWith(`${STAGED_TABLE}.`) ? [item.slice(STAGED_TABLE.length + 1)] : []))

type Explanation = Omit<ImportError, 'line'>

const explanations: readonly (readonly [RegExp, (message: string) => Explanation])[] = [
  [
    /^UNIQUE constraint failed: /,
    (list) => {
      const [first = null, ...others] = columnsIn(list)
      const code = 'unique'
      if (first !== null && others.length === 0)
        return { column: first, code, message: 'is the value of an earlier record of the file' }
      const names = columnsIn(list).join(', ')
      return {
        column: first,
        code,
        message: `is, together with the other unique fields (${names || list}), the value of an earlier record of the file`
      }
    }
  ],
  [
    /^CHECK constraint failed: /,
    (rule) => ({ column: null, code: 'check', message: `The record violates the check '${rule}'.` })
  ],
  [
    /^cannot store (?=.* column )/,
    (text) => ({
      column: columnsIn(text.split(' ').at(-1) as string)[0] as string,
      code: 'type',
      message: `cannot be stored: ${text.split(' column ')[0]}`
    })
  ]
]

/** Returns why SQLite refused a record. @throws any other error of SQLite */
const explain = (error: unknown): Explanation => {
  const { code, message } = toPlainError(error)
  if (!/^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|ERROR)/.test(code)) throw error
  for (const [pattern, toExplanation] of explanations)
    if (pattern.test(message)) return toExplanation(message.replace(pattern, ''))
  return { column: null, code: 'constraint', message: `SQLite refuses the record: ${message}.` }
}

/** Opens the staging file, with a copy of the table. */
export const openStagedTable = (options: StagingThreadOptions) => {
  const { stagingFile, rowid } = options
  const db = new BetterSqlite3(stagingFile)
  configure(db)
  createTable(db, options)
  db.exec('BEGIN')
  const statements = new Map<string, BetterSqlite3.Statement<unknown[]>>()
  const position = rowid === null ? LINE : identifier(rowid)
  let rows = 0

  const statementFor = (names: readonly string[]) => {
    const key = names.join('\0')
    const known = statements.get(key)
    if (known) return known
    const columns = [...names, LINE_COLUMN].map(identifier)
    if (statements.size === MAX_STATEMENTS) statements.clear()
    // ABORT: the table may declare another reaction to a conflict, such as REPLACE.
    const statement = db.prepare<unknown[]>(
      `INSERT OR ABORT INTO ${TABLE} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
    )
    statements.set(key, statement)
    return statement
  }

  return {
    /** Returns the function that stores a record with these fields. It returns why SQLite refuses the record, or null. */
    insertOf: (names: readonly string[]) => {
      const statement = statementFor(names)
      return (line: number, values: SqlValue[]): Explanation | null => {
        try {
          values.push(line)
          statement.run(values)
          rows += 1
          return null
        } catch (error) {
          return explain(error)
        }
      }
    },
    /** Ends the transaction. Returns the number of records, and of bytes of the file. */
    finish: () => {
      if (rowid === null) db.exec(`CREATE INDEX _rowhouse_lines ON ${TABLE} (${LINE})`)
      db.exec('COMMIT')
      // The writer reads the records from now on.
      db.pragma('cache_size = -1024')
      db.pragma('shrink_memory')
      const [pages, size] = ['page_count', 'page_size'].map((name) => Number(db.pragma(name, { simple: true })))
      return { rows, bytes: Number(pages) * Number(size) }
    },
    /** Returns the last position of the next records, at most `count`, and their number. */
    step: (after: SqlValue, count: number): StagedStep => {
      const row = db
        .prepare<unknown[], { last: SqlValue; rows: bigint }>(
          `SELECT max(position) AS last, count(*) AS rows FROM (
            SELECT ${position} AS position FROM ${TABLE} WHERE ? IS NULL OR ${position} > ? ORDER BY 1 LIMIT ?)`
        )
        .get(after, after, count) as { last: SqlValue; rows: bigint }
      return { last: row.last, rows: Number(row.rows) }
    }
  }
}
export type StagedTable = ReturnType<typeof openStagedTable>

import type BetterSqlite3 from 'better-sqlite3'
import type { SqlValue } from '../../model/sql-value.ts'
import { identifier } from '../../sql/identifiers.ts'
import { LINE_COLUMN, STAGED_TABLE } from '../../sql/staged.ts'
import type { Refusal } from './refusals.ts'

/** Records of one statement. Each takes 1 µs of CPU, instead of 2 with a statement of its own. */
const ROWS_OF_STATEMENT = 16
/** A wide table has fewer records in a statement: SQLite allows 32,766 parameters. */
const MAX_PARAMS = 1024

/** Called for each record that SQLite refuses. */
export type OnRefused = (line: number, refusal: Refusal) => void

interface InsertEvents {
  readonly onStored: (count: number) => void
  readonly onRefused: OnRefused
  /** Returns why SQLite refused a record. @throws any other error */
  readonly explainRefusal: (error: unknown) => Refusal
}

/** Stores records with the same fields, several in one statement. */
export interface RecordInserts {
  add(line: number, values: SqlValue[]): void
  /** Stores the last records. */
  flush(): void
}

const composeInsert = (columns: readonly string[], rows: number) => {
  const row = `(${columns.map(() => '?').join(', ')})`
  // ABORT: the table may declare another reaction to a conflict, such as REPLACE.
  return `INSERT OR ABORT INTO ${identifier(STAGED_TABLE)} (${columns.map(identifier).join(', ')})
    VALUES ${Array.from({ length: rows }, () => row).join(', ')}`
}

/** `names`: the fields of the records. */
export const createRecordInserts = (
  db: BetterSqlite3.Database,
  names: readonly string[],
  { onStored, onRefused, explainRefusal }: InsertEvents
): RecordInserts => {
  const columns = [...names, LINE_COLUMN]
  const size = Math.max(1, Math.min(ROWS_OF_STATEMENT, Math.floor(MAX_PARAMS / columns.length)))
  const prepare = (rows: number) => db.prepare<unknown[]>(composeInsert(columns, rows))
  const insertOne = prepare(1)
  let insertMany: BetterSqlite3.Statement<unknown[]> | undefined
  /** The values of each record. The last value is the line. */
  let records: SqlValue[][] = []

  const takeRecords = () => {
    const taken = records
    records = []
    return taken
  }

  /** Returns why SQLite refused one of the records, or null. With a reason, it has stored none of them. */
  const run = (statement: BetterSqlite3.Statement<unknown[]>, taken: readonly SqlValue[][]): Refusal | null => {
    try {
      statement.run(taken.flat())
      onStored(taken.length)
      return null
    } catch (error) {
      return explainRefusal(error)
    }
  }

  const storeEach = (taken: readonly SqlValue[][]) => {
    for (const values of taken) {
      const refusal = run(insertOne, [values])
      if (refusal) onRefused(Number(values.at(-1)), refusal)
    }
  }

  const storeTogether = (taken: readonly SqlValue[][]) => {
    insertMany ??= prepare(size)
    if (run(insertMany, taken)) storeEach(taken)
  }

  return {
    add: (line, values) => {
      values.push(line)
      records.push(values)
      if (records.length === size) storeTogether(takeRecords())
    },
    flush: () => storeEach(takeRecords())
  }
}

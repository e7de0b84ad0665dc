import type { Caller } from '../model/caller.ts'
import type { Row } from '../model/sql-value.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Statement, Unit } from '../sql/statement.ts'

export interface WriteResult {
  /** Rows changed, or, for a statement that returns rows (RETURNING, SELECT), rows returned. */
  readonly changes: number
  readonly rows: readonly Row[]
}

/** A statement for a reader thread. */
export interface Scan extends Statement {
  /**
   * Memory for the `text` of a row, as UTF-8: where it is large, and fits, the row has its length in bytes instead.
   * Large texts that follow each other would otherwise pile up in both threads until their garbage is collected.
   */
  readonly place?: SharedArrayBuffer
}

/** The caller of a scan: scans are queued fairly per caller, and delivered only while it has its right. */
export type ScanCaller = Pick<Caller, 'kind' | 'id' | 'confirm'>

/** A reader thread held for one caller, so that its TEMP tables outlive a statement. */
export interface HeldReader {
  scan(statement: Scan): Promise<readonly Row[]>
  release(): Promise<void>
}

/**
 * All that a service sees of the database. A unit of work is data, never a callback: it crosses threads today and may
 * cross a network one day, so whatever a read in the middle would do is done by guards, subqueries and `expect`.
 */
export interface Database {
  readonly dialect: Dialect
  /** Bounded work only (by key, one page): it runs on the event loop, in the snapshot of the present turn. */
  read(statement: Statement): Promise<readonly Row[]>
  /** The same for a statement that gives one text, such as JSON made by SQLite; null where there is no row. */
  readText(statement: Statement): Promise<string | null>
  /** The steps by which `read` would run a statement, in SQLite's words; nothing is run. */
  plan(statement: Statement): Promise<readonly string[]>
  /** Unbounded work (search, deep offset, unindexed sort, count, export): it runs in a reader thread, 30 s at most. */
  scan(statement: Scan, caller?: ScanCaller): Promise<readonly Row[]>
  /** A reader thread of one's own; at most two at a time, then `OVERLOADED`. Release it in a `finally`. */
  holdReader(): Promise<HeldReader>
  /** One atomic unit. Resolves when it is durable, with one result per statement. */
  write(unit: Unit): Promise<readonly WriteResult[]>
  /** Called when another program has committed to the file: whatever was remembered must be read anew. */
  onExternalCommit(listener: () => void): void
  /** May be called again, by whoever does not know that it has been. */
  close(): Promise<void>
}

/** A statement of the unit changed another number of rows than it `expect`s: the unit left no trace. */
export class UnexpectedChanges extends Error {
  override readonly name = 'UnexpectedChanges'
  /** Position of the statement in its unit, from 0. */
  readonly statement: number

  constructor(statement: number) {
    super(`Statement ${statement} of the unit changed another number of rows than expected.`)
    this.statement = statement
  }
}

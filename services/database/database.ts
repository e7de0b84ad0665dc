/** A value as SQLite binds and returns it. Integers that must stay exact travel as bigint. */
export type SqlValue = null | bigint | number | string | Uint8Array

export type Row = Record<string, SqlValue>

export interface Statement {
  readonly sql: string
  readonly params: readonly SqlValue[]
  /** The unit rolls back with `UnexpectedChanges` unless exactly so many rows changed (or were returned). */
  readonly expect?: number
}

/** Statements that are carried out together or not at all. */
export type Unit = readonly Statement[]

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

/** Who asks for a scan, and may wait for it. */
export interface Caller {
  /** Callers take turns, however much one of them asks for. */
  readonly callerId: string
  /** Asked before a scan runs, and again before its rows are given. Rejects where the caller is not to have them. */
  confirm(): Promise<void>
}

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
  /** Bounded work only (by key, one page): it runs on the event loop, in the snapshot of the present turn. */
  read(statement: Statement): Promise<readonly Row[]>
  /** The same for a statement that gives one text, such as JSON made by SQLite; null where there is no row. */
  readText(statement: Statement): Promise<string | null>
  /** The steps by which `read` would run a statement, in SQLite's words; nothing is run. */
  plan(statement: Statement): Promise<readonly string[]>
  /** Unbounded work (search, deep offset, unindexed sort, count, export): it runs in a reader thread, 30 s at most. */
  scan(statement: Scan, caller?: Caller): Promise<readonly Row[]>
  /** A reader thread of one's own; at most two at a time, then `OVERLOADED`. Release it in a `finally`. */
  holdReader(): Promise<HeldReader>
  /** One atomic unit. Resolves when it is durable, with one result per statement. */
  write(unit: Unit): Promise<readonly WriteResult[]>
  /** Called when another program has committed to the file: whatever was remembered must be read anew. */
  onForeignCommit(listener: () => void): void
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

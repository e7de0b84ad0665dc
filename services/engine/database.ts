import type { Caller } from '../model/caller.ts'
import type { MemoryChanges } from '../model/memory.ts'
import type { Row, SqlValue } from '../model/sql-value.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { StagedUnits, StorePlan } from '../sql/staged-units.ts'
import type { RowSource, Statement, Unit, UnitOptions } from '../sql/statement.ts'
import type { EngineCounts, WriteBatch } from './counts.ts'
import type { Trial } from './reader/trial.ts'
import type { UnreadText } from './shared/unread-text.ts'
import type { ImportErrors } from './staging/import-errors.ts'
import type { StagedCheck, StagedFile, StagedStep, StagingRequest, StepRange } from './staging/protocol.ts'

export interface WriteResult {
  /** Rows changed, or rows returned by a statement that returns rows (RETURNING, SELECT). */
  readonly changes: number
  readonly rows: readonly Row[]
}

/** The results of a unit, one for each of its statements. */
export interface WriteResults extends ReadonlyArray<WriteResult> {
  /** The time of its statements in milliseconds, for a unit with `maxMs`. Absent on a cluster. */
  readonly ms?: number
}

/**
 * The caller of a scan: scans are queued fairly per caller, return rows only while the caller has its right, and end when
 * its client disconnects.
 */
export type ScanCaller = Pick<Caller, 'kind' | 'id' | 'name' | 'confirm' | 'clientSignal'>

/**
 * Runs statements in sequence in a reader. Each call returns the first row, whose column `text` is a text or
 * null. A large `text` is returned as UTF-8 bytes, in memory that the second call after this one overwrites.
 */
export type ChunkScan = (statement: Statement) => Promise<Row | undefined>

/** A reader that is held for one caller, so that the rows that it collects exist for several statements. */
export interface HeldReader {
  scan(statement: Statement): Promise<readonly Row[]>
  readonly scanChunk: ChunkScan
  /**
   * Collects the rows of a SELECT statement with `keyCount` columns, once per held reader. Returns the number of rows.
   */
  collect(keys: Statement, keyCount: number): Promise<number>
  /**
   * Returns the collected rows after the first `after` ones, at most `rows`, for the next statement of this reader. Their
   * columns are `position`, which rises in the order of `keys`, and `k0`, `k1`, …
   */
  collected(after: number, rows: number): RowSource
  release(): Promise<void>
}

/** In bytes. */
export interface FileSizes {
  readonly database: number
  /** The write-ahead log. */
  readonly wal: number
  /** How often the write-ahead log began again, after a checkpoint had copied all of its pages. */
  readonly walRestarts: number
}

/** Bytes. */
export interface BackupProgress {
  readonly copied: number
  readonly total: number
}

/** A migration of our own tables, which has not begun. */
export interface Upgrade {
  /** The version of our tables in the file. */
  readonly from: number
  readonly to: number
  /** Of the file with its write-ahead log. */
  readonly bytes: number
  /** Copies the database into an empty file, which is checked and durable when this resolves. */
  readonly copy: (target: string) => Promise<void>
}

export interface RestoreOptions {
  /**
   * true: the administrators, tokens and roles of the backup replace the present ones, all sessions end, all tokens are inactive,
   * and all admin keys are deleted.
   */
  readonly includesAccess: boolean
  /** Added to the tables of the backup, in the transaction of the restore. */
  readonly audited: Statement
  /** Called before the writes are paused. If it throws, the restore fails with its error. */
  readonly beforePause: () => void
  /** Called when no other connection can write any more, before the file changes. If it rejects, the restore fails with its error. */
  readonly onLocked: () => Promise<unknown>
  readonly onProgress: (progress: BackupProgress) => void
  /** Called before writes are possible again. */
  readonly onRestored: () => Promise<unknown>
}

export interface Replication {
  /** Returns the value of an SQL expression that reads no table. */
  evaluate(sql: string, params: readonly SqlValue[]): SqlValue
}

export type OnTime = (milliseconds: number) => void

/** The file of an import, while its records are checked and stored. */
export interface Staging {
  /** Stages bytes of the file. Resolves when the next bytes can be written. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the file. */
  end(): Promise<StagedFile>
  /** Compares the staged records with the stored ones. */
  check(checks: readonly StagedCheck[]): Promise<ImportErrors>
  /** Returns where the next staged records end, in the order of their position. */
  step(range: StepRange): Promise<StagedStep>
  /** Returns the units that store the staged records. */
  store(plan: StorePlan): Promise<StagedUnits>
  /** Deletes the staged records. */
  close(): Promise<void>
}

/** Where unbounded statements run. */
export interface Scans {
  /**
   * For unbounded work (search, deep offset, unindexed sort, count, export). Runs for at most 30 s. Confirms the caller's
   * right before the statement and before the rows are returned. `onTime` gets the milliseconds of the statement, without
   * the wait for a reader, also if it fails.
   */
  scan(statement: Statement, caller: ScanCaller, onTime?: OnTime): Promise<readonly Row[]>
  /** Returns a `ChunkScan` that queues each of its statements as `scan` does. */
  chunkScan(caller: ScanCaller): ChunkScan
  /** Holds a reader. Release it in a `finally`. @throws OVERLOADED if too many are held */
  holdReader(caller: ScanCaller): Promise<HeldReader>
}

/**
 * The database as services see it. A unit of work is data, never a callback: it crosses threads today and may cross a
 * network later. Guards, subqueries and `expect` replace a read in the middle of a unit.
 *
 * `scan`, `chunkScan` and `holdReader` use reader threads. Two can be held, one for the same token.
 */
export interface Database extends Scans {
  readonly dialect: Dialect
  /** null: one file. Otherwise each node of a cluster runs the statements of a write, with its own clock and random numbers. */
  readonly replication: Replication | null
  /** For bounded work (by key, one page). Runs on the event loop, in the snapshot of the current read batch. */
  read(statement: Statement): Promise<readonly Row[]>
  /** Like `read`, for a statement that returns one text, such as JSON made by SQLite. Returns null without a row. */
  readText(statement: Statement): Promise<string | null>
  /**
   * Resolves when the tables, tokens and settings in memory are as new as the database was at the call. Call it before each
   * request. null: only this service changes the database, so memory is always as new.
   */
  readonly catchUp: (() => Promise<void>) | null
  /** Returns the steps of SQLite's query plan for `read`. Does not run the statement. */
  plan(statement: Statement): Promise<readonly string[]>
  /**
   * Runs scans of SQL views in processes that are killed after 30 s: a view can run without an end before it returns a row,
   * and a thread cannot be stopped inside SQLite. One reader can be held.
   */
  readonly viewScans: Pick<Scans, 'scan' | 'holdReader'> & {
    /** Prepares an SQL view and describes it, without running it. Does not wait for scans. */
    describe(view: string, caller: ScanCaller): Promise<Row>
  }
  /**
   * Tries a change of the structure on a copy of the schema without rows, and compiles all declarations after it. Fails as
   * the unit would fail.
   */
  tryChange(unit: Unit, caller: ScanCaller, options?: UnitOptions): Promise<Trial>
  /** Runs one atomic unit. Resolves when it is durable. */
  write(unit: Unit, options?: UnitOptions): Promise<WriteResults>
  /**
   * Queues one large unit, and runs it as `write` does. Callers are served in rotation. Large units use at most half of the writer
   * thread's time.
   */
  writeBulk(caller: Pick<Caller, 'kind' | 'id' | 'name'>, unit: Unit, options?: UnitOptions): Promise<WriteResults>
  /** Counts the text that clients have not read yet. Beyond its limit, `write` fails with OVERLOADED for a large result. */
  readonly unread: UnreadText
  /** Starts a thread that checks the file of an import and stores its records in a staging file. Close it in a `finally`. */
  stage(request: StagingRequest): Staging
  /** Makes, checks and restores backups, each in a process of its own. */
  readonly backups: {
    /**
     * Copies the database, as it is now, into an empty file. Resolves when the copy is checked and durable. Commits do not
     * delay it, but the WAL grows until its end. An urgent copy takes half of the time, and disturbs requests more.
     */
    copy(target: string, onProgress: (progress: BackupProgress) => void, isUrgent?: boolean): Promise<void>
    /** Checks a file of an unknown source, and makes it durable. @throws BACKUP_INVALID */
    check(file: string): Promise<void>
    /**
     * Replaces the content of the served file by that of a backup, in one transaction. Resolves when the change is durable.
     * After it, every cache must be read again. @throws BACKUP_INVALID
     */
    restore(backup: string, options: RestoreOptions): Promise<void>
  }
  /** Adds a listener for commits of other programs. After such a commit cached numbers of records must be read again. */
  onExternalCommit(listener: () => void): void
  /**
   * Adds the listener that reloads tables, tokens and settings: another program or service may have changed them. A cluster
   * waits for it, and names what has changed. null: anything may have changed.
   */
  onStaleMemory(listener: (changes: MemoryChanges | null) => Promise<unknown>): void
  fileSizes(): Promise<FileSizes>
  /** Returns the finished work since the start, and the pending work. */
  counts(): EngineCounts
  /** Adds a listener for the commits of the writer thread. It must be fast. */
  onWriteBatch(listener: (batch: WriteBatch) => void): void
  /** May be called more than once. */
  close(): Promise<void>
}

/** A statement changed another number of rows than it `expect`s. The unit was rolled back. */
export class UnexpectedChanges extends Error {
  override readonly name = 'UnexpectedChanges'
  readonly code = 'UNEXPECTED_CHANGES'
  /** Position of the statement in its unit, from 0. */
  readonly statement: number

  constructor(statement: number) {
    super(`Statement ${statement} of the unit changed another number of rows than expected.`)
    this.statement = statement
  }
}

/**
 * Another service has changed memory that the unit was made from. Nothing was changed, and memory is as new as the database
 * again.
 */
export class StaleMemory extends Error {
  override readonly name = 'StaleMemory'
}

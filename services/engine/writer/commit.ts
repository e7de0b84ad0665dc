import { randomUUID } from 'node:crypto'
import type { Connection } from '../shared/connection.ts'
import { toPlainError } from '../shared/plain-error.ts'

/** The disk has failed during COMMIT. Nothing is stored, and the units of the transaction must not run again. */
export class FailedCommit extends Error {
  /** That of SQLite. */
  readonly code: string
  constructor(cause: unknown) {
    const { code, message } = toPlainError(cause)
    super(message, { cause })
    this.code = code
  }
}

/** The transaction may be in the file or not. Only the recovery by another process decides. */
export class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome'
  constructor(cause: unknown) {
    super('The disk failed during a commit, and again during the next one. The last changes may have been stored.', {
      cause
    })
  }
}

const isDiskFailure = (code: string) => code.startsWith('SQLITE_IOERR')

/** Without its last write, a transaction is not stored. After any other failure, all of its writes may have been done. */
const isDoubtful = (code: string) => code !== 'SQLITE_IOERR_WRITE'

/**
 * Returns a function that commits the transaction of the connection.
 *
 * A COMMIT whose fsync fails has already written its pages to the WAL. No connection sees them, but the recovery after a crash
 * would. A small commit then overwrites the first of these pages, so that the checksums of the others are wrong:
 * https://sqlite.org/fileformat.html#walformat
 */
export const createCommit = ({ raw, run }: Connection) => {
  const rollBack = () => {
    if (raw.inTransaction) run('ROLLBACK', [])
  }

  const replaceLastCommit = () => {
    try {
      rollBack()
      // Another value each time: a page with the same bytes would replace nothing.
      run("INSERT OR REPLACE INTO _rowhouse_meta VALUES ('failed_commit', ?)", [randomUUID()])
    } catch (error) {
      throw new UnknownOutcome(error)
    }
  }

  /**
   * @throws FailedCommit if the disk has failed; UnknownOutcome if it has failed again; any other error of SQLite, after
   * which the transaction may still be open
   */
  return () => {
    try {
      run('COMMIT', [])
    } catch (error) {
      const { code } = toPlainError(error)
      if (!isDiskFailure(code)) throw error
      if (isDoubtful(code)) replaceLastCommit()
      else rollBack()
      throw new FailedCommit(error)
    }
  }
}

import type { Caller } from '../../model/caller.ts'
import type { Registration } from '../../model/table.ts'
import type { Access } from './access.ts'
import type { AccessOf } from './access-of.ts'

/** The tables that a caller can read. */
export interface ReadableTables {
  /** Whether the caller has the right to read a table of this name now. The table need not exist. */
  mayRead(name: string): boolean
  /** Does not check the right: call `mayRead` first. Returns the access to a table; undefined if it is not registered, or not published for a token. */
  accessTo(name: string): Access | undefined
}

export type ReadableBy = (caller: Caller) => ReadableTables

interface ReadableOptions {
  readonly accessOf: AccessOf
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
}

const READ = ['read'] as const

/** Creates the function that returns the tables that a caller can read. */
export const createReadableBy =
  ({ accessOf, findTable }: ReadableOptions): ReadableBy =>
  (caller) => ({
    mayRead: caller.mayRead,
    accessTo: (name) => {
      const table = findTable(name)
      if (!table?.structure || table.isOutdated) return undefined
      return table.isPublished || caller.kind !== 'token' ? accessOf(caller, table, READ) : undefined
    }
  })

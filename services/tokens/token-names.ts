import type { Clock } from '../model/clock.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { TokenNames } from '../tables/changes/renames.ts'
import type { TokenEntry } from './live-token.ts'
import { expectNoPermission, renameInPermissions } from './token-statements.ts'

interface TokenNamesOptions {
  readonly clock: Clock
  readonly all: () => Iterable<TokenEntry>
  readonly cache: (row: Row) => TokenEntry
}

const toNamingToken = ({ id, name }: TokenEntry) => ({ id, name })

const isNamed = (table: string) => {
  const folded = foldName(table)
  return (name: string) => foldName(name) === folded
}

/** Creates the functions that find and rename tables in the permissions of tokens. */
export const createTokenNames = ({ clock, all, cache }: TokenNamesOptions): TokenNames => ({
  naming: (table) => {
    const isTable = isNamed(table)
    const found: TokenEntry[] = []
    for (const token of all()) if (token.permissions.tables.some(isTable)) found.push(token)
    return found.map(toNamingToken)
  },
  expectUnnamed: expectNoPermission,
  rename: (table, name) => renameInPermissions(table, name, clock()),
  apply: (rows) => rows.map((row) => toNamingToken(cache(row)))
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { temporaryDirectory } from './fixtures.ts'

const FOLDER = 'test/data/versions'

/** What scripts/make-old-databases.js writes for each version of our own tables. */
export interface OldDatabase {
  readonly version: number
  readonly token: string
  readonly revokedToken: string
  readonly hasIndexes: boolean
}

/** A database of each version, the oldest first: test/data/versions/README.md has their contents. */
export const oldDatabases: readonly OldDatabase[] = JSON.parse(readFileSync(join(FOLDER, 'versions.json'), 'utf8'))

/** Returns the path of a new copy of the database of a version. */
export const copyOldDatabase = (t: Test, { version }: Pick<OldDatabase, 'version'>) => {
  const file = join(temporaryDirectory(t), 'shop.sqlite')
  writeFileSync(file, gunzipSync(readFileSync(join(FOLDER, `${version}.db.gz`))))
  return file
}

/** Returns the bytes of a database after its header. A copy has another change counter there, and no write-ahead log. */
export const contentOf = (file: string) => readFileSync(file).subarray(100)

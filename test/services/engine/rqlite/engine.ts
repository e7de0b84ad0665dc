import type { Test } from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import { type ClusterOptions, openCluster } from '../../../../services/engine/rqlite/open.ts'
import { temporaryDirectory } from '../../../fixtures.ts'
import { type FakeRqlite, startFakeRqlite } from '../../../rqlite/fake.ts'

/** Opens the engine on a fake cluster. It is closed when `t` ends. */
export const openOn = async (
  t: Test,
  { url }: Pick<FakeRqlite, 'url'>,
  options: Partial<ClusterOptions> = {}
): Promise<Database> => {
  const database = await openCluster({ urls: [url], dataDirectory: temporaryDirectory(t), ...options })
  t.teardown(() => database.close())
  return database
}

/** Starts a fake cluster, and opens the engine on it. `schema`: SQL that runs first. */
export const startEngine = async (t: Test, schema = '', options: Partial<ClusterOptions> = {}) => {
  const fake = await startFakeRqlite(t)
  if (schema !== '') fake.execute(schema)
  return { fake, db: await openOn(t, fake, options) }
}

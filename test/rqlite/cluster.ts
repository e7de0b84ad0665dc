import { join } from 'node:path'
import type { Lifetime } from '../fixtures.ts'
import { type FakeRqlite, startFakeRqlite } from './fake.ts'

/** All services of a cluster need the same one. */
export const JWT_SECRET = 'A3f9b1c7d2e8405f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3'

/** Whether the tests run on a fake cluster instead of a file. */
export const isOnCluster = process.env.ENGINE === 'rqlite'

type Environment = Readonly<Record<string, string | undefined>>

/** Starts a fake cluster, and returns it with the settings of its services. `file`: a SQLite file with the first content. */
export const startCluster = async (t: Lifetime, file?: string) => {
  const fake = await startFakeRqlite(t, file === undefined ? {} : { file })
  return { fake, env: { RQLITE_URLS: fake.url, JWT_SECRET } }
}

/** The running fake clusters of `toCluster`, by the file that each one replaces. */
const clusters = new Map<string, Awaited<ReturnType<typeof startCluster>>>()

const clusterOf = async (t: Lifetime, place: string, file: string | undefined) => {
  const running = clusters.get(place)
  if (running) return running
  const cluster = await startCluster(t, file)
  clusters.set(place, cluster)
  t.teardown(() => clusters.delete(place))
  return cluster
}

/**
 * Returns the settings of a service of a cluster instead of those for a file, whose content is loaded. A service that is
 * started again for this file uses the same cluster.
 */
export const toCluster = async (t: Lifetime, { DATABASE, ...env }: Environment) => ({
  ...(await clusterOf(t, DATABASE ?? join(String(env.DATA_DIR), 'rowhouse.db'), DATABASE)).env,
  ...env
})

/** Returns the fake cluster that replaces a served file. Undefined if the file itself is served. */
export const fakeOf = (file: string): FakeRqlite | undefined => clusters.get(file)?.fake

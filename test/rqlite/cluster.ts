import type { Test } from 'tap'
import { startFakeRqlite } from './fake.ts'

/** All services of a cluster need the same one. */
export const JWT_SECRET = 'A3f9b1c7d2e8405f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3'

/** Starts a fake cluster, and returns it with the settings of its services. `file`: a SQLite file with the first content. */
export const startCluster = async (t: Test, file?: string) => {
  const fake = await startFakeRqlite(t, file === undefined ? {} : { file })
  return { fake, env: { RQLITE_URLS: fake.url, JWT_SECRET } }
}

/** Returns the settings of a service of a cluster instead of those for a file. */
export const toCluster = async (t: Test, { DATABASE, ...env }: Record<string, string | undefined>) => ({
  ...(await startCluster(t, DATABASE)).env,
  ...env
})

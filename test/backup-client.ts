import { setTimeout as delay } from 'node:timers/promises'
import type { Backup, BackupList, RestoreResult } from '../schemas/backup.ts'
import { logIn } from './crash/access.ts'

/** A machine that runs other tests may be too slow for a moment. */
const RETRY_MS = 200

const JSON_TYPE = { 'content-type': 'application/json' }

/** Logs in at a service. Returns functions that call its routes. They fail with the text of a response that is no success. */
export const createBackupClient = async (address: string) => {
  const headers = { cookie: await logIn(address) }

  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const sent = body ? { body: JSON.stringify(body), headers: { ...headers, ...JSON_TYPE } } : { headers }
    const response = await fetch(`${address}/admin${path}`, { method, ...sent })
    const text = await response.text()
    if (text.includes('"OVERLOADED"')) {
      await delay(RETRY_MS)
      return call(method, path, body)
    }
    if (!response.ok) throw new Error(text)
    return JSON.parse(text).data
  }

  return {
    call,
    list: async () => (await call('GET', '/backups')) as BackupList,
    create: async () => (await call('POST', '/backups')) as Backup,
    restore: async (name: string) => (await call('POST', `/backups/${name}/restore`)) as RestoreResult
  }
}
export type BackupClient = Awaited<ReturnType<typeof createBackupClient>>

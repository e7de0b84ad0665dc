import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, isServiceError } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'
import { upload } from '../api/upload.ts'

export type Backup = components['schemas']['AdminBackup']
export type RunningBackup = components['schemas']['AdminRunningBackup']

const RUNNING_MS = 500
/** A scheduled backup may begin at any time. */
const IDLE_MS = 10_000

export const backupsQuery = queryOptions({
  queryKey: ['backups'],
  queryFn: () => dataOf(api.GET('/admin/backups')),
  refetchInterval: ({ state }) => (state.data?.running ? RUNNING_MS : IDLE_MS)
})

/** For a list that shows a backup which this page makes: the list may have been read before it began. */
export const quickBackupsQuery = { ...backupsQuery, refetchInterval: RUNNING_MS }

const refresh = () => queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey })

/**
 * Whether the service goes on with what a request began, although its response was lost: a backup takes long, and a
 * connection without traffic is closed.
 */
const goesOn = async (error: unknown, kind: string) => {
  if (!isServiceError(error) || error.code !== 'UNKNOWN') return false
  const { running } = await queryClient.fetchQuery({ ...backupsQuery, staleTime: 0 })
  return running?.kind === kind
}

/** Everything that the console has loaded may be different after a restore. */
const reloadAll = () => {
  queryClient.removeQueries({ type: 'inactive' })
  return queryClient.invalidateQueries()
}

/** Returns the new backup; null if the connection broke while it is made. */
export const createBackup = async () => {
  try {
    return await dataOf(api.POST('/admin/backups'))
  } catch (error) {
    if (await goesOn(error, 'manual')) return null
    throw error
  } finally {
    await refresh()
  }
}

interface Sending {
  readonly onProgress: (part: number) => void
  readonly signal: AbortSignal
}

/** Returns the stored backup. @throws ServiceError if the file is not a backup */
export const uploadBackup = async (file: File, sending: Sending) => {
  const backup = await upload({
    method: 'POST',
    path: '/admin/backups/upload',
    body: file,
    format: 'sqlite',
    ...sending
  })
  await refresh()
  return backup
}

/**
 * Returns the backup of the state before; null if the connection broke while the restore goes on. `includesAccess`: takes
 * the administrators of the backup, too. Then nothing is read again, because the session has ended.
 */
export const restoreBackup = async (name: string, includesAccess: boolean) => {
  const query = includesAccess ? { include: 'access' as const } : {}
  try {
    const { before } = await dataOf(api.POST('/admin/backups/{name}/restore', { params: { path: { name }, query } }))
    if (!includesAccess) await reloadAll()
    return before
  } catch (error) {
    if (await goesOn(error, 'before-restore')) return null
    throw error
  }
}

export const deleteBackup = async (name: string) => {
  await dataOf(api.DELETE('/admin/backups/{name}', { params: { path: { name } } }))
  await refresh()
}

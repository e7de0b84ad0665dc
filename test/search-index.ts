import { setTimeout } from 'node:timers/promises'
import type { SearchIndex } from '../schemas/table.ts'
import { type Client, dataOf } from './helpers.ts'

export const searchIndexOf = async (admin: Client, id: number): Promise<SearchIndex> =>
  dataOf(await admin.get(`/admin/tables/${id}`)).searchIndex

/** Waits until the search index of the table has another state, and returns it. */
export const untilBuilt = async (admin: Client, id: number): Promise<SearchIndex> => {
  for (;;) {
    const searchIndex = await searchIndexOf(admin, id)
    if (searchIndex.state !== 'building') return searchIndex
    await setTimeout(10)
  }
}

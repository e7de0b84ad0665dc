import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'

const REFRESH_MS = 10_000

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: () => dataOf(api.GET('/admin/status')),
  refetchInterval: REFRESH_MS
})

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: () => dataOf(api.GET('/admin/tokens'))
})

/** The number of records of a table. Key: the service caches it; so may the console for a while. */
export const countQuery = (id: number) =>
  queryOptions({
    queryKey: ['records', id, 'count'],
    queryFn: async () => {
      const params = { path: { id }, query: { size: 1 } }
      const { total } = await dataOf(api.GET('/admin/tables/{id}/data', { params }))
      return total ?? null
    }
  })

import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'

const REFRESH_MS = 10_000

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: () => dataOf(api.GET('/admin/status')),
  refetchInterval: REFRESH_MS
})

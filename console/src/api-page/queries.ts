import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'

/** One record, for a key that exists. */
export const exampleQuery = (id: number) =>
  queryOptions({
    queryKey: ['example', id],
    queryFn: () => dataOf(api.GET('/admin/tables/{id}/data', { params: { path: { id }, query: { size: 1 } } }))
  })

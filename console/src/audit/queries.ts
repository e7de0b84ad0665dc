import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import { api, dataOf, SERVICE_URL } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'
import { type AuditFilter, parametersOf } from './filter.ts'

export type AuditRow = components['schemas']['AdminAuditRow']

const queryOf = ({ from, to, ...texts }: AuditFilter) => ({
  ...parametersOf(texts),
  ...(from !== '' && { from: Number(from) }),
  ...(to !== '' && { to: Number(to) })
})

/** The rows of the audit in pages, the latest first. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...queryOf(filter), ...(pageParam !== null && { before: pageParam }) }
      return dataOf(api.GET('/admin/audit', { params: { query }, signal }))
    },
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData
  })

/** Returns the address of all rows of a filter as NDJSON. */
export const exportUrl = (filter: AuditFilter) =>
  `${SERVICE_URL}/admin/audit/export?${new URLSearchParams(parametersOf(filter))}`

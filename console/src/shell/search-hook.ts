import type { BaseSearchHook } from 'wouter'
import { useSearch } from 'wouter/use-browser-location'

/** The router decodes the query of the address before `URLSearchParams` does: `%` is encoded here once more. */
export const useEncodedSearch: BaseSearchHook = (options) => useSearch(options).replaceAll('%', '%25')

import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'wouter'

const NAMES = ['action', 'caller', 'target', 'from', 'to'] as const

/** The texts of the URL, which are those of the service: times are epoch milliseconds. Empty: no filter. */
export type AuditFilter = Readonly<Record<(typeof NAMES)[number], string>>

/** Returns the filters that are not empty. */
export const parametersOf = <T extends Partial<AuditFilter>>(filter: T): Partial<T> => {
  const set = Object.entries(filter).filter(([, value]) => value !== '')
  return Object.fromEntries(set) as Partial<T>
}

const filterOf = (parameters: URLSearchParams) =>
  Object.fromEntries(NAMES.map((name) => [name, parameters.get(name) ?? ''])) as AuditFilter

/** The filter of the page, which is in the URL. */
export const useAuditFilter = () => {
  const [parameters, setParameters] = useSearchParams()
  const filter = useMemo(() => filterOf(parameters), [parameters])
  const change = useCallback(
    (changes: Partial<AuditFilter>) =>
      setParameters((present) => new URLSearchParams(parametersOf({ ...filterOf(present), ...changes })), {
        replace: true
      }),
    [setParameters]
  )
  return { filter, change, clear: () => setParameters(new URLSearchParams()) }
}

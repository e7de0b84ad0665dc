import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'wouter'

/** What is shown of a table: the texts of the URL, which are those of the service. */
export interface View {
  readonly q: string
  /** A filter as JSON text. Empty: none. */
  readonly filter: string
  readonly order: string
}

export interface ViewState {
  readonly view: View
  /** The key of the record that the side panel shows. */
  readonly record: string | null
  /** Whether the side panel shows a new record. Its parameter is another one: `new` can be a key. */
  readonly isNew: boolean
  /** Changes parameters of the URL. An empty text removes one. The panel shows a record, or a new one. */
  readonly change: (changes: Partial<View & { readonly record: string; readonly new: string }>) => void
}

const changed = (present: URLSearchParams, changes: Readonly<Record<string, string | undefined>>) => {
  const next = new URLSearchParams(present)
  if ('record' in changes) next.delete('new')
  if ('new' in changes) next.delete('record')
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value)
    else next.delete(name)
  }
  return next
}

/** The state of the view, which is in the URL: `?q=&filter=&order=&record=`, or `&new=` instead of `&record=`. */
export const useView = (): ViewState => {
  const [parameters, setParameters] = useSearchParams()
  const q = parameters.get('q') ?? ''
  const filter = parameters.get('filter') ?? ''
  const order = parameters.get('order') ?? ''
  const view = useMemo(() => ({ q, filter, order }), [q, filter, order])
  const change = useCallback<ViewState['change']>(
    (changes) => setParameters((present) => changed(present, changes), { replace: 'q' in changes }),
    [setParameters]
  )
  return { view, record: parameters.get('record'), isNew: parameters.has('new'), change }
}

import { useMutation } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { notify, notifyError } from '../../ui/toast.tsx'
import type { Table } from '../queries.ts'
import { refreshTable } from './calls.ts'
import { changesBetween } from './changes.ts'

/** Reads the structure again, and says what another program has changed. */
export const RefreshButton = ({ table }: { readonly table: Table }) => {
  const refresh = useMutation({
    // Before `onSuccess` runs, `table` is the new one.
    mutationFn: async () => changesBetween(table, await refreshTable(table)),
    onSuccess: (changes) => {
      notify({
        title: texts.refreshed(table.name),
        description: changes.length === 0 ? texts.noChanges : changes.join(' ')
      })
    },
    onError: (error) => notifyError(texts.notRefreshed(table.name), error)
  })
  return (
    <Button disabled={refresh.isPending} title={texts.refreshHint} onClick={() => refresh.mutate()}>
      <RefreshCw size={14} aria-hidden="true" />
      {texts.refresh}
    </Button>
  )
}

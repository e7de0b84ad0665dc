import { useMutation, useQuery } from '@tanstack/react-query'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/page.tsx'
import { type Table, tableQuery } from '../queries.ts'
import { updateTable } from './calls.ts'
import styles from './structure.module.css'

const POLL_MS = 1000

/** The index that makes searches quick: its state, and its switch. */
export const SearchSection = ({ table }: { readonly table: Table }) => {
  // While it is built, the table is read again, also by everything else that shows it.
  useQuery({
    ...tableQuery(table.id),
    refetchInterval: ({ state }) => (state.data?.searchIndex.state === 'building' ? POLL_MS : false)
  })
  const change = useMutation({ mutationFn: (searchIndex: boolean) => updateTable(table, { searchIndex }) })
  const { state, indexed, total } = table.searchIndex
  return (
    <section className={styles.section}>
      <header>
        <h2>{texts.search}</h2>
        {state === 'outdated' && (
          <Button disabled={change.isPending} onClick={() => change.mutate(true)}>
            {texts.searchAgain}
          </Button>
        )}
        <Button disabled={change.isPending} onClick={() => change.mutate(state === 'off')}>
          {state === 'off' ? texts.searchOn : texts.searchOff}
        </Button>
      </header>
      <p role="status">{texts.searchStates[state]}</p>
      {state === 'building' && (
        <progress
          className={styles.progress}
          aria-label={texts.searchProgress}
          value={indexed}
          max={Math.max(total, 1)}
        />
      )}
      <p className={styles.hint}>{texts.searchHint}</p>
      {change.isError && <Problem error={change.error} />}
    </section>
  )
}

import { useQuery } from '@tanstack/react-query'
import type { Table } from '../tables/queries.ts'
import { Problem } from '../ui/page.tsx'
import { EditConflict } from './grid/edit-conflict.tsx'
import { EmptyRecords } from './grid/empty.tsx'
import { LeaveEdits } from './grid/leave-edits.tsx'
import { useCompact, usePreferences } from './grid/preferences.ts'
import { RecordsGrid } from './grid/records-grid.tsx'
import { Toolbar } from './grid/toolbar.tsx'
import { useEdits } from './grid/use-edits.ts'
import { useShape } from './grid/use-shape.ts'
import { RecordPanel } from './panel/record-panel.tsx'
import { totalQuery } from './queries.ts'
import styles from './records-view.module.css'
import { useSource } from './source.ts'
import { useView } from './view.ts'

/** The records of a table: search, filter, columns, and the grid. */
export const RecordsView = ({ table }: { readonly table: Table }) => {
  const state = useView()
  const source = useSource()
  const [preferences, changePreferences] = usePreferences(table.name)
  const [isCompact, setCompact] = useCompact()
  // Above the grid, which is not shown while no record matches.
  const edits = useEdits(table)
  const total = useQuery(totalQuery(source, table, state.view))
  const shape = useShape(table, preferences)
  return (
    <div className={styles.view}>
      <Toolbar
        table={table}
        view={state.view}
        change={state.change}
        preferences={preferences}
        onPreferences={changePreferences}
        isCompact={isCompact}
        onCompact={setCompact}
      />
      {total.isError && <Problem error={total.error} onRetry={() => total.refetch()} />}
      {total.data === 0 && <EmptyRecords table={table} {...state} />}
      {total.data !== undefined && total.data > 0 && shape && (
        <RecordsGrid
          table={table}
          {...state}
          total={total.data}
          preferences={preferences}
          onPreferences={changePreferences}
          isCompact={isCompact}
          shape={shape}
          edits={edits}
        />
      )}
      <EditConflict table={table} edits={edits} />
      <LeaveEdits table={table} unsaved={edits.unsaved} />
      {source.canOpen && (state.record !== null || state.isNew) && (
        <RecordPanel
          table={table}
          pk={state.record}
          onClose={() => state.change({ record: '' })}
          onSaved={(pk) => pk !== state.record && state.change({ record: pk })}
        />
      )}
    </div>
  )
}

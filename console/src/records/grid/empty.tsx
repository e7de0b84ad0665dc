import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/page.tsx'
import { ImportButton } from '../page-actions.tsx'
import { useCanEdit, useSource } from '../source.ts'
import type { ViewState } from '../view.ts'
import styles from './grid.module.css'

/** What the page shows without records: why there is none, and what to do. */
export const EmptyRecords = ({
  table,
  view,
  change
}: Pick<ViewState, 'view' | 'change'> & { readonly table: Table }) => {
  const canEdit = useCanEdit(table)
  const readOnlyHint = useSource().canOpen ? texts.emptyView : texts.emptyToken
  const isFiltered = view.q !== '' || view.filter !== ''
  return (
    <div className={styles.empty}>
      {isFiltered ? (
        <Empty title={texts.noMatchTitle}>
          <p>{texts.noMatchHint}</p>
          <Button onClick={() => change({ q: '', filter: '' })}>{texts.removeFilter}</Button>
        </Empty>
      ) : (
        <Empty title={texts.emptyTitle(titleOf(table))}>
          <p>{canEdit ? texts.emptyHint : readOnlyHint}</p>
          {canEdit && (
            <div className={styles.next}>
              <Button variant="primary" onClick={() => change({ new: 'true' })}>
                {texts.newRecord}
              </Button>
              <ImportButton table={table} />
            </div>
          )}
        </Empty>
      )}
    </div>
  )
}

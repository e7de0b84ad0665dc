import { ListFilter, Search } from 'lucide-react'
import { useCallback, useRef, useState } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import type { Table } from '../../tables/queries.ts'
import { texts as filterTexts } from '../../texts/records-filter.ts'
import { texts } from '../../texts/records-grid.ts'
import { Button } from '../../ui/button.tsx'
import { useTypedText } from '../../ui/typed-text.ts'
import { FilterBar } from '../filter/filter-bar.tsx'
import { FilterDialog } from '../filter/filter-dialog.tsx'
import type { ViewState } from '../view.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import type { Preferences } from './preferences.ts'
import styles from './toolbar.module.css'

const MAX_SEARCH = 255

/** The search box. The records follow when the user pauses. */
const SearchBox = ({ q, onSearch }: { readonly q: string; readonly onSearch: (q: string) => void }) => {
  const [text, setText] = useTypedText(q, onSearch)
  const input = useRef<HTMLInputElement>(null)
  useShortcut('Mod+f', () => input.current?.select())
  return (
    <label className={styles.search}>
      <Search size={14} aria-hidden="true" />
      <input
        ref={input}
        type="search"
        aria-label={texts.search}
        placeholder={texts.searchShortcut}
        maxLength={MAX_SEARCH}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  )
}

interface ToolbarProps extends Pick<ViewState, 'view' | 'change'> {
  readonly table: Table
  readonly preferences: Preferences
  readonly onPreferences: (changes: Partial<Preferences> | null) => void
  readonly isCompact: boolean
  readonly onCompact: (isCompact: boolean) => void
}

/** Above the grid: search, filter, and the choice of columns. */
export const Toolbar = ({ table, view, change, ...options }: ToolbarProps) => {
  const [isFiltering, setFiltering] = useState(false)
  const onSearch = useCallback((q: string) => change({ q }), [change])
  return (
    <>
      <div className={styles.bar} role="toolbar" aria-label={texts.viewOptions}>
        <SearchBox q={view.q} onSearch={onSearch} />
        <Button variant="quiet" onClick={() => setFiltering(true)}>
          <ListFilter size={14} aria-hidden="true" />
          {filterTexts.filter}
        </Button>
        <div className={styles.end}>
          <ColumnsMenu table={table} {...options} />
        </div>
      </div>
      {view.filter !== '' && (
        <FilterBar
          table={table}
          filter={view.filter}
          onEdit={() => setFiltering(true)}
          onRemove={() => change({ filter: '' })}
        />
      )}
      {isFiltering && (
        <FilterDialog
          table={table}
          filter={view.filter}
          onClose={() => setFiltering(false)}
          onApply={(filter) => {
            setFiltering(false)
            change({ filter })
          }}
        />
      )}
    </>
  )
}

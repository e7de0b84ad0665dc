import { FieldSection } from './structure/field-section.tsx'
import { IndexSection } from './structure/index-section.tsx'
import { RefreshButton } from './structure/refresh-button.tsx'
import { RemovalSection } from './structure/removal-section.tsx'
import { SearchSection } from './structure/search-section.tsx'
import { SettingsSection } from './structure/settings-section.tsx'
import styles from './structure/structure.module.css'
import { TablePage } from './table-page.tsx'

/** The fields, indexes and settings of a table. */
export const StructurePage = () => (
  <TablePage view="structure" actions={(table) => <RefreshButton table={table} />}>
    {(table) => (
      <div className={styles.page}>
        <FieldSection table={table} />
        {table.kind === 'table' && <IndexSection table={table} />}
        {table.kind === 'table' && <SearchSection table={table} />}
        <SettingsSection table={table} />
        <RemovalSection table={table} />
      </div>
    )}
  </TablePage>
)

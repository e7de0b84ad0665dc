import { TablePage } from '../tables/table-page.tsx'
import { PageActions } from './page-actions.tsx'
import { RecordsView } from './records-view.tsx'

export const RecordsPage = () => (
  <TablePage view="records" isPadded={false} actions={(table) => <PageActions table={table} />}>
    {(table) => <RecordsView key={table.id} table={table} />}
  </TablePage>
)

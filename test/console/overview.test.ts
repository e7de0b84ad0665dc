import t from 'tap'
import { createTable, dataOf, issueToken } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t)

  t.test('without tables, the overview shows the first steps', async (t) => {
    const page = await openAsAdmin(t)
    await page.getByRole('heading', { name: 'Put a table behind the API' }).waitFor()
    t.equal(
      await page.getByRole('link', { name: 'Import tables of the file' }).getAttribute('href'),
      '/console/tables/import'
    )
    await photographPage(page, 'overview-empty')
  })

  t.test('shows tables with their records, tokens and the state of the service', async (t) => {
    const table = await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
    for (const name of ['Tom', 'Kit']) dataOf(await admin.post(`/admin/tables/${table.id}/data`, { name }))
    await issueToken(admin, { tables: ['pets'], actions: ['read'] })
    const page = await openAsAdmin(t)
    await page
      .getByRole('main')
      .getByRole('listitem')
      .filter({ hasText: /pets.*2/ })
      .waitFor()
    await page.getByText('never').waitFor()
    await page.getByText('Write-ahead log').waitFor()
    await photographPage(page, 'overview')
  })
}

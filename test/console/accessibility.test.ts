import t from 'tap'
import { createTable, dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t)
  const { id } = await createTable(admin, {
    name: 'pets',
    fields: [
      { name: 'id', jsonType: 'integer', isPrimary: true },
      { name: 'name', jsonType: 'string' },
      { name: 'born', jsonType: 'integer' }
    ]
  })
  for (const name of ['Tom', 'Kit']) dataOf(await admin.post(`/admin/tables/${id}/data`, { name, born: 2020 }))

  // The pages of tokens and administrators, and the API page, are tested with their features.
  const pages = [
    ['', 'Overview'],
    [`tables/${id}`, 'pets'],
    [`tables/${id}?record=1`, 'pets'],
    [`tables/${id}?new=true`, 'pets'],
    [`tables/${id}/structure`, 'pets'],
    ['tables/new', 'New table'],
    ['tables/import', /[Ii]mport/],
    ['tables/from-file', /file/]
  ] as const

  t.test('axe finds nothing, in both themes, and pages fit on a narrow screen', async (t) => {
    const page = await openAsAdmin(t)
    for (const [path, name] of pages) {
      await page.goto(new URL(`/console/${path}`, page.url()).href)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      t.comment(path)
      await expectAccessible(t, page)
    }
  })
}

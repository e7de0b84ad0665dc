import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'

const LONG = 'a_long_name_of_a_field_that_somebody_has_chosen_years_ago_and_that_nobody_dares_to_change'

const SQL = `
  CREATE TABLE parents (id INTEGER PRIMARY KEY, ${LONG} TEXT UNIQUE);
  CREATE TABLE children (id INTEGER PRIMARY KEY,
    ${LONG} TEXT NOT NULL DEFAULT 'a long default value that fills its column' REFERENCES parents (${LONG}),
    status TEXT CHECK (status IN ('a first long value', 'a second long value', 'a third long value')));`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  dataOf(await admin.post('/admin/tables/import', { name: 'parents' }))
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'children' }))
  dataOf(await admin.post(`/admin/tables/${id}/indexes`, { fields: [LONG, 'status'] }))

  t.test('long names do not push the buttons of a field out of sight', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}/structure`)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      for (const name of [
        ...[LONG, 'status'].flatMap((field) => [`Edit ${field}`, `Drop ${field}`]),
        `Drop the index of ${LONG}, status`
      ]) {
        const box = await page.getByRole('button', { name, exact: true }).boundingBox()
        t.ok(box && box.x >= 0 && box.x + box.width <= width, `${name} at ${width} pixels`)
      }
      await photographPage(page, `structure-${width}`)
    }
  })
}

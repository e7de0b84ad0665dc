import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { ALBUMS, findTables } from './albums.ts'
import { photographPage, skip, startConsole } from './console.ts'
import { cell, column, saved, scrollTo, status } from './grid.ts'

const SQL = `
  ${ALBUMS}
  CREATE TABLE line (a TEXT, b INTEGER, note TEXT, PRIMARY KEY (a, b));
  INSERT INTO line VALUES ('x,y', 1, 'first'), ('x,y', 2, 'second'), ('ü/%', 3, 'third');
  CREATE TABLE exact (id INTEGER PRIMARY KEY, wide INTEGER, amount NUMERIC, data TEXT, origin TEXT, file BLOB, twice INTEGER AS (id * 2));
  INSERT INTO exact (id, wide, amount, data, origin, file) VALUES
    (1, 9007199254740993, 9007199254740995, '{"n":[1.5]}', 'DE', x'00ff'),
    (2, -9223372036854775808, 0.1, '{}', NULL, NULL);
`

const SMALL = `
  CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 95)
  INSERT INTO album SELECT i, 'Album ' || i FROM n;
`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  dataOf(await admin.post('/admin/tables/import', { names: ['artist', 'album', 'line'] }))
  const fields = [{ name: 'origin', isReadonly: true }]
  const exact = dataOf(await admin.post('/admin/tables/import', { name: 'exact', fields })).id
  dataOf(await admin.put(`/admin/tables/${exact}/fields/data`, { jsonType: 'object' }))
  const { pathOf, readAlbum } = await findTables(admin)

  t.test('selected records are deleted together, and an undo restores them', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await page.getByRole('checkbox', { name: 'Select row 20', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select row 22', exact: true }).click({ modifiers: ['Shift'] })
    const before = await readAlbum(21)
    await page.getByRole('button', { name: 'Delete 3 records from album' }).click()
    await photographPage(page, 'grid-delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 3 records from album' }).click()
    await status(page, '197 records')
    t.equal(await readAlbum(21), 404)
    await page.getByRole('button', { name: 'Undo' }).click()
    await status(page, '200 records')
    t.strictSame(await readAlbum(21), before)
  })

  t.test('a record that somebody else has deleted does not stop the deletion of the others', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    for (const row of [1, 2, 3]) await page.getByRole('checkbox', { name: `Select row ${row}`, exact: true }).click()
    await admin.delete(`/admin/${pathOf('album')}/data/2`)
    await page.getByRole('button', { name: 'Delete 3 records from album' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 3 records from album' }).click()
    await page.getByText('Deleted 2 records from album').waitFor()
    await page.getByText('1 record was already deleted.').waitFor()
    await status(page, '197 records')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Restored 2 records in album').waitFor()
    t.match(await readAlbum(1), { title: 'Album 1' })
    t.equal(await readAlbum(2), 404)
  })

  t.test('another order, search or filter clears the selection', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    const select = () => page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click()
    const selected = page.getByText('1 record selected')
    const cleared = async () => {
      await selected.waitFor({ state: 'detached' })
      t.equal(await page.getByRole('checkbox', { checked: true }).count(), 0)
    }
    await select()
    await selected.waitFor()
    await column(page, 'title').click()
    await cleared()
    await select()
    await selected.waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('Album 19')
    await cleared()
    await status(page, '11 matching records')
    await select()
    await selected.waitFor()
    await page.goBack()
    await page.goBack()
    await cleared()
  })

  t.test('selected records are copied as they are now', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'), { permissions: ['clipboard-read', 'clipboard-write'] })
    const row = page.getByRole('row').filter({ has: cell(page, 'Album 11') })
    await row.getByRole('checkbox').click()
    await cell(page, 'Album 11').click()
    await page.keyboard.type('Edited')
    await page.keyboard.press('Enter')
    await cell(page, 'Edited').waitFor()
    await saved(page)
    await cell(page, 'Edited').click()
    await page.keyboard.press('Control+c')
    t.equal(await page.evaluate('navigator.clipboard.readText()'), '11\tEdited\t2\t1961\t1.1')
  })

  const readExact = async () => (await admin.get(`/admin/${pathOf('exact')}/data`)).body

  t.test('an undo restores read-only fields, and numbers that JavaScript cannot hold', async (t) => {
    const page = await openAsAdmin(t, pathOf('exact'))
    const before = await readExact()
    t.match(
      before,
      '"wide":"9007199254740993","amount":"9007199254740995","data":{"n":[1.5]},"origin":"DE","file":"AP8="'
    )
    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).click()
    await page.getByRole('button', { name: 'Delete 2 records from exact' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 records from exact' }).click()
    await page.getByRole('heading', { name: 'exact has no records yet.' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await status(page, '2 records')
    t.equal(await readExact(), before)
  })

  t.test('the panel of a record restores them, too', async (t) => {
    const page = await openAsAdmin(t, pathOf('exact'))
    const before = await readExact()
    await page.getByRole('button', { name: 'Open record of row 1 (Ctrl+Enter)' }).click()
    await page.getByRole('button', { name: 'Delete exact 1' }).click()
    await page.getByRole('button', { name: 'Delete exact 1' }).last().click()
    await status(page, '1 record')
    await page.getByRole('button', { name: 'Undo' }).click()
    await status(page, '2 records')
    t.equal(await readExact(), before)
  })

  t.test('records that others refer to are not deleted, and none of the others is', async (t) => {
    const page = await openAsAdmin(t, pathOf('artist'))
    await cell(page, 'Ada').waitFor()
    await page.getByRole('checkbox', { name: 'Select the visible rows' }).click()
    await page.getByRole('button', { name: 'Delete 2 records from artist' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 records from artist' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    const left = await admin.get(`/admin/${pathOf('artist')}/data`)
    t.equal(left.json().data.total, 2)
  })

  t.test('records with a key of several fields are edited and deleted', async (t) => {
    const page = await openAsAdmin(t, pathOf('line'))
    await cell(page, 'third').dblclick()
    await page.keyboard.type('3rd')
    await page.keyboard.press('Enter')
    await saved(page)
    const read = async () => (await admin.get(`/admin/${pathOf('line')}/data`)).json().data.rows
    t.match(await read(), [{ note: 'first' }, { note: 'second' }, { note: '3rd' }])
    await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).click()
    await page.getByRole('button', { name: 'Delete 1 record from line' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 record from line' }).click()
    await status(page, '2 records')
    t.match(await read(), [{ note: 'first' }, { note: '3rd' }])
  })

  t.test('a service with small pages has the same rows, and an undo restores all of them', async (t) => {
    const small = await startConsole(t, { database: createDatabase(t, SMALL), env: { MAX_PAGE_SIZE: '10' } })
    const { id } = dataOf(await small.admin.post('/admin/tables/import', { name: 'album' }))
    const page = await small.openAsAdmin(t, `tables/${id}`)
    await cell(page, 'Album 1').waitFor()
    for (const row of [10, 11, 19]) {
      const found = page.getByRole('row').filter({ has: page.getByLabel(`Select row ${row}`, { exact: true }) })
      await found.getByRole('gridcell', { name: `Album ${row}`, exact: true }).waitFor()
    }
    await scrollTo(page, 1)
    await cell(page, 'Album 95').waitFor()
    await cell(page, 'Album 81').waitFor()
    const read = async () => (await small.admin.get(`/admin/tables/${id}/export?format=ndjson`)).body
    const before = await read()
    await page.getByRole('checkbox', { name: 'Select the visible rows' }).click()
    await page.getByRole('button', { name: /^Delete \d+ records from album$/ }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Delete / })
      .click()
    await page.getByText(/^Deleted \d+ records from album$/).waitFor()
    t.not(await read(), before)
    await page.getByRole('button', { name: 'Undo' }).click()
    await status(page, '95 records')
    t.equal(await read(), before)
  })
}

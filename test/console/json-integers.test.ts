import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { skip, startConsole } from './console.ts'

const SQL = `
  CREATE TABLE facts (id INTEGER PRIMARY KEY, note TEXT, data TEXT);
  INSERT INTO facts VALUES (1, 'a', '{"n":9007199254740993}'), (2, 'b', '{"n":1e300}'), (3, 'c', '{"n":5}');`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin, file } = await startConsole(t, { database: createDatabase(t, SQL) })
  const facts = dataOf(await admin.post('/admin/tables/import', { name: 'facts' })).id
  dataOf(await admin.put(`/admin/tables/${facts}/fields/data`, { jsonType: 'object' }))
  const stored = (pk: number) => {
    const database = new BetterSqlite3(file, { readonly: true })
    const text = database.prepare('SELECT data FROM facts WHERE id = ?').pluck().get(pk)
    database.close()
    return text
  }

  t.test('an integer inside JSON is shown with its digits, and is not rounded by a save', async (t) => {
    const page = await openAsAdmin(t, `tables/${facts}`)
    await page.getByRole('gridcell', { name: '{"n":9007199254740993}' }).waitFor()
    await page.getByRole('button', { name: 'Open record of row 1 (Ctrl+Enter)' }).click()
    const data = page.getByLabel('data', { exact: true })
    t.match(await data.inputValue(), /"n": 9007199254740993\n/)
    await page.getByLabel('note', { exact: true }).fill('changed')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved facts 1', { exact: true }).first().waitFor()
    t.equal(stored(1), '{"n":9007199254740993}')

    await data.fill('{"n": 9007199254740995}')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page
      .getByRole('alert')
      .filter({ hasText: /send it as a string/ })
      .waitFor()
    t.equal(stored(1), '{"n":9007199254740993}')
  })

  t.test('selected records that an undo could not restore are not deleted', async (t) => {
    const page = await openAsAdmin(t, `tables/${facts}`)
    for (const row of [2, 3]) await page.getByRole('checkbox', { name: `Select row ${row}`, exact: true }).click()
    await page.getByRole('button', { name: 'Delete 2 records from facts' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 records from facts' }).click()
    await page
      .getByRole('alert')
      .filter({ hasText: /An undo could not restore record 2/ })
      .waitFor()
    t.equal(stored(2), '{"n":1e300}')
    t.equal(stored(3), '{"n":5}')
  })

  t.test('the panel says before that a record cannot be restored', async (t) => {
    for (const pk of [1, 3]) {
      const page = await openAsAdmin(t, `tables/${facts}?record=${pk}`)
      await page.getByRole('button', { name: `Delete facts ${pk}` }).click()
      const dialog = page.getByRole('dialog', { name: `Delete facts ${pk}?`, exact: true })
      await dialog.getByText(pk === 1 ? /^This cannot be undone, because data/ : /^You can undo it/).waitFor()
      await dialog.getByRole('button', { name: `Delete facts ${pk}` }).click()
      await page.getByText(`Deleted facts ${pk}`, { exact: true }).first().waitFor()
      t.equal(await page.getByRole('button', { name: 'Undo' }).count(), pk === 1 ? 0 : 1)
      t.equal(stored(pk), undefined)
    }
  })
}

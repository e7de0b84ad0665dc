import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createDatabase, createTable, dataOf } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'
import { saved } from './grid.ts'

const SQL = `
  CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  INSERT INTO makers VALUES (1, 'Pelikan'), (2, 'Lamy'), (3, 'Kaweco');
  CREATE TABLE goods (id INTEGER PRIMARY KEY, note TEXT, active BOOLEAN, at DATETIME, day DATE,
    maker_id INTEGER REFERENCES makers (id));
  INSERT INTO goods VALUES (1, 'text', 0, '2026-11-21 08:30:00', '2026-11-21', 1), (2, NULL, NULL, NULL, NULL, NULL);`

const COLUMNS = ['id', 'note', 'active', 'at', 'day', 'maker_id']

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  dataOf(await admin.post('/admin/tables/import', { names: ['makers', 'goods'] }))
  const tables: { id: number; name: string }[] = dataOf(await admin.get('/admin/tables'))
  const goods = tables.find(({ name }) => name === 'goods')?.id
  const documents = (
    await createTable(admin, {
      name: 'documents',
      fields: [
        { name: 'id', jsonType: 'integer', isPrimary: true },
        { name: 'details', jsonType: 'object' },
        { name: 'tags', jsonType: 'array' }
      ]
    })
  ).id
  dataOf(await admin.post(`/admin/tables/${documents}/data`, { details: { size: 1 }, tags: ['a'] }))

  const read = async (pk: number) => dataOf(await admin.get(`/admin/tables/${goods}/data/${pk}`))
  const cellAt = (page: Page, row: number, name: string, columns: readonly string[] = COLUMNS) =>
    page
      .getByRole('row')
      .nth(row)
      .getByRole('gridcell')
      .nth(1 + columns.indexOf(name))

  /** Opens the editor of a cell of the table `goods`. */
  const edit = async (t: Test, row: number, name: string) => {
    const page = await openAsAdmin(t, `tables/${goods}`)
    const cell = cellAt(page, row, name)
    await cell.dblclick()
    return { page, cell, editor: cell.getByLabel(name, { exact: true }) }
  }

  /** Ends an edit, and waits until it is saved. */
  const enter = async (page: Page) => {
    const written = page.waitForResponse((response) => response.request().method() === 'PUT')
    await page.keyboard.press('Enter')
    await written
    await saved(page)
  }

  t.test('a boolean is chosen from a list, which has NULL', async (t) => {
    const { page, cell, editor } = await edit(t, 1, 'active')
    t.strictSame(await editor.locator('option').allTextContents(), ['NULL', 'true', 'false'])
    await editor.selectOption('true')
    await enter(page)
    t.equal((await read(1)).active, true)
    await cell.dblclick()
    await page.keyboard.press('n')
    await enter(page)
    t.equal((await read(1)).active, null)
  })

  t.test('a date and a time are typed, or picked in the form of the text', async (t) => {
    const { page, cell, editor } = await edit(t, 1, 'at')
    await editor.fill('2027-01-02 03:04:05')
    await enter(page)
    t.equal((await read(1)).at, '2027-01-02 03:04:05')
    await cell.dblclick()
    await photographPage(page, 'cell-date')
    await cell.getByLabel('Date of at').fill('2028-02-03T04:05:06')
    await enter(page)
    t.equal((await read(1)).at, '2028-02-03 04:05:06')
    await cellAt(page, 1, 'day').dblclick()
    await cellAt(page, 1, 'day').getByLabel('Date of day').fill('2029-03-04')
    await enter(page)
    t.equal((await read(1)).day, '2029-03-04')
  })

  t.test('JSON is checked before it is saved', async (t) => {
    const page = await openAsAdmin(t, `tables/${documents}`)
    const details = cellAt(page, 1, 'details', ['id', 'details', 'tags'])
    await details.dblclick()
    await details.getByLabel('details', { exact: true }).fill('{"size": 2')
    await page.keyboard.press('Enter')
    await details
      .getByRole('alert')
      .getByText(/This is not JSON/)
      .waitFor()
    await page.keyboard.press('Enter')
    t.equal(await details.getByLabel('details', { exact: true }).inputValue(), '{"size": 2')
    await details.getByLabel('details', { exact: true }).fill('{"size": 2,\n "deep": {"list": [1, null]}}')
    await enter(page)
    const tags = cellAt(page, 1, 'tags', ['id', 'details', 'tags'])
    await tags.dblclick()
    await tags.getByLabel('tags', { exact: true }).fill('["b"]')
    await enter(page)
    t.match(dataOf(await admin.get(`/admin/tables/${documents}/data/1`)), {
      details: { size: 2, deep: { list: [1, null] } },
      tags: ['b']
    })
  })

  t.test('a cell is set to NULL, and NULL is replaced by empty text', async (t) => {
    const { page, cell, editor } = await edit(t, 1, 'note')
    await cell.getByRole('button', { name: 'NULL for note' }).click()
    t.equal(await editor.getAttribute('placeholder'), 'NULL')
    await enter(page)
    t.equal((await read(1)).note, null)
    t.equal(await cell.innerText(), 'NULL')
    await cell.dblclick()
    await cell.getByRole('button', { name: 'NULL for note' }).click()
    await enter(page)
    t.equal((await read(1)).note, '')
    t.equal(await cell.innerText(), 'empty')
  })

  t.test('text that is deleted is empty text, not NULL, and NULL that is only looked at stays NULL', async (t) => {
    const { page, cell } = await edit(t, 1, 'note')
    await page.keyboard.type('filled')
    await enter(page)
    await cell.dblclick()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Delete')
    await enter(page)
    t.equal((await read(1)).note, '')
    await cellAt(page, 2, 'note').dblclick()
    t.equal(await cellAt(page, 2, 'note').getByLabel('note', { exact: true }).getAttribute('placeholder'), 'NULL')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'note' }).waitFor({ state: 'detached' })
    await saved(page)
    t.equal((await read(2)).note, null)
  })

  t.test('Escape leaves a value as it is, and a date is set to NULL', async (t) => {
    const { page, cell, editor } = await edit(t, 2, 'active')
    await editor.selectOption('true')
    await page.keyboard.press('Escape')
    t.equal(await cell.innerText(), 'NULL')
    const day = cellAt(page, 1, 'day')
    await day.dblclick()
    await day.getByRole('button', { name: 'NULL for day' }).click()
    await enter(page)
    t.match(await read(1), { day: null })
    t.match(await read(2), { active: null })
  })

  t.test('a foreign key is chosen by the label of its record', async (t) => {
    const { page, cell } = await edit(t, 1, 'maker_id')
    await cell.getByRole('combobox', { name: 'maker_id' }).click()
    await page.getByRole('combobox', { name: 'Search makers' }).fill('lam')
    await photographPage(page, 'cell-reference')
    await page.getByRole('option', { name: /Lamy/ }).click()
    await cell.getByText('Lamy').waitFor()
    await enter(page)
    t.equal((await read(1)).maker_id, 2)
    await cell.dblclick()
    await cell.getByRole('button', { name: 'NULL for maker_id' }).click()
    await enter(page)
    t.equal((await read(1)).maker_id, null)
  })

  t.test('a foreign key is chosen with the keyboard', async (t) => {
    const page = await openAsAdmin(t, `tables/${goods}`)
    const cell = cellAt(page, 2, 'maker_id')
    await cell.click()
    await page.keyboard.press('Enter')
    await cell.getByRole('combobox', { name: 'maker_id' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('combobox', { name: 'Search makers' }).waitFor({ timeout: 3000 })
    await page.keyboard.type('kaw')
    await page
      .getByRole('option', { name: /Kaweco/ })
      .and(page.locator('[data-highlighted]'))
      .waitFor()
    await page.getByRole('option', { name: /Lamy/ }).waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await cell.getByText('Kaweco').waitFor()
    await enter(page)
    t.equal((await read(2)).maker_id, 3)
  })
}

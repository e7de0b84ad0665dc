import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'
import { cell, saved } from './grid.ts'

const SQL = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, "value");
  INSERT INTO notes VALUES (1, 'text', '1'), (2, 'number', 5), (3, 'null', NULL);`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'notes' }))
  const read = async (pk: number) => dataOf(await admin.get(`/admin/tables/${id}/data/${pk}`))
  const field = (page: Page) => page.getByLabel('value', { exact: true })
  const type = (page: Page) => page.getByLabel('Type of value', { exact: true })
  const save = async (page: Page) => {
    const written = page.waitForResponse((response) => response.request().method() === 'PUT')
    await page.getByRole('button', { name: 'Save' }).click()
    await written
    await page.locator('form > [inert]').waitFor({ state: 'detached' })
  }
  const enter = async (page: Page, content: string, value: string) => {
    await cell(page, content).dblclick()
    await page.keyboard.press('Control+a')
    await page.keyboard.type(value)
    await page.keyboard.press('Enter')
  }

  t.test('text of digits stays text in the panel, until it is made a number', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}?record=1`)
    t.equal(await type(page).inputValue(), 'text')
    await field(page).fill('2')
    await save(page)
    t.strictSame((await read(1)).value, '2')
    await type(page).selectOption('number')
    await photographPage(page, 'untyped')
    await expectAccessible(t, page)
    await save(page)
    t.strictSame((await read(1)).value, 2)
    await field(page).fill('two')
    await page.getByText('Enter a number, such as 12.5 or 1e6.').waitFor()
    await type(page).selectOption('text')
    await save(page)
    t.strictSame((await read(1)).value, 'two')
  })

  t.test('a cell keeps the type of its value', async (t) => {
    dataOf(await admin.put(`/admin/tables/${id}/data/1`, { value: '11' }))
    const page = await openAsAdmin(t, `tables/${id}`)
    await enter(page, '11', '12')
    await enter(page, '5', '6')
    await saved(page)
    t.strictSame((await read(1)).value, '12')
    t.strictSame((await read(2)).value, 6)
    await enter(page, '6', 'six')
    const error = page.getByRole('gridcell').getByRole('alert')
    await error.getByText('Enter a number, such as 12.5 or 1e6. To store text here, open the record.').waitFor()
    t.strictSame((await read(2)).value, 6)
  })

  t.test('the type of a new value is chosen, and NULL has none', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}?record=3`)
    await type(page).selectOption('number')
    t.ok(await page.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing has changed')
    await field(page).fill('7')
    await save(page)
    t.strictSame((await read(3)).value, 7)
    await page.getByRole('button', { name: 'Duplicate' }).click()
    await page.getByRole('dialog', { name: 'New record in notes', exact: true }).waitFor()
    t.equal(await type(page).inputValue(), 'number')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Created notes 4', { exact: true }).waitFor()
    t.strictSame((await read(4)).value, 7)
  })
}

import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase, dataOf, PASSWORD } from '../helpers.ts'
import { skip, startConsole } from './console.ts'
import { cell, saved } from './grid.ts'

const SQL = `
  CREATE TABLE stock (id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, amount INTEGER);
  INSERT INTO stock VALUES (1, 'pen', 6), (2, 'ink', 40);`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'stock' }))
  const read = async (pk: number) => dataOf(await admin.get(`/admin/tables/${id}/data/${pk}`))
  const total = async () => dataOf(await admin.get(`/admin/tables/${id}/data?size=1`)).total

  /** Logs in over the page, which stays as it is. */
  const renew = async (page: Page) => {
    const login = page.getByRole('dialog', { name: 'Your session has ended', exact: true })
    await login.getByLabel('Password').fill(PASSWORD)
    await login.getByLabel('Password').press('Enter')
    await login.waitFor({ state: 'detached' })
  }

  t.test('a session that ends during the edit of a cell loses nothing', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}`)
    await cell(page, 'pen').dblclick()
    await page.getByRole('textbox', { name: 'sku' }).fill('nib')
    await page.context().clearCookies()
    await page.keyboard.press('Enter')
    await renew(page)
    await cell(page, 'nib').waitFor()
    await saved(page)
    t.match(await read(1), { sku: 'nib' })
  })

  t.test('a login during the edit of a cell keeps the editor', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}`)
    await cell(page, '40').waitFor()
    await page.context().clearCookies()
    await cell(page, '40').click()
    await page.keyboard.press('7')
    // Data is read again once it is older than five seconds and the user comes back to the tab.
    await page.clock.setSystemTime(Date.now() + 10_000)
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    await renew(page)
    const editor = page.getByRole('textbox', { name: 'amount' })
    t.equal(await editor.inputValue(), '7')
    await editor.press('Enter')
    await cell(page, '7').waitFor()
    await saved(page)
    t.match(await read(2), { amount: 7 })
  })

  t.test('a session that ends during an import loses nothing', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    const buffer = Buffer.from('Code,amount\ncap,1\nlid,2\n')
    await page.locator('input[type=file]').setInputFiles({ name: 'new.csv', mimeType: 'text/csv', buffer })
    await page.getByLabel('Field of the column Code').selectOption({ label: 'sku' })
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Check the file' }).click()
    await renew(page)
    await page.getByText('The file has no errors. 2 records will be created, 0 changed.').waitFor()
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Import 2 records' }).click()
    t.equal(await total(), 2, 'nothing is stored before the login')
    await renew(page)
    await page.getByText('2 records created and 0 changed in stock').first().waitFor()
    t.equal(await total(), 4)
  })
}

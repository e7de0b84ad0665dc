import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { skip, startConsole } from './console.ts'
import { cell, enter, holdRequests, saved } from './grid.ts'

const SQL = `
  CREATE TABLE cups (id INTEGER PRIMARY KEY, name TEXT, note TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
  INSERT INTO cups SELECT i, 'name ' || i, 'note ' || i FROM n;`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'cups' }))
  const pathOf = (pk: number) => `/admin/tables/${id}/data/${pk}`
  const read = async (pk: number) => dataOf(await admin.get(pathOf(pk)))

  const openGrid = async (t: Test, query = '') => {
    const page = await openAsAdmin(t, `tables/${id}${query}`)
    await cell(page, 'name 8').waitFor()
    return page
  }
  const panel = (page: Page, pk: number) => page.getByRole('dialog', { name: `cups ${pk}`, exact: true })
  const openRecord = async (page: Page, pk: number) => {
    await page.getByRole('button', { name: `Open record of row ${pk} (Ctrl+Enter)` }).click()
    await panel(page, pk).getByLabel('note', { exact: true }).waitFor()
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const notice = (page: Page, text: string) => page.getByText(text, { exact: true }).first()
  const question = (page: Page) => page.getByRole('dialog', { name: 'Discard the unsaved changes?', exact: true })

  /** Pastes into a cell. `content`: statements that fill the clipboard `data`. */
  const paste = async (page: Page, name: string, content: string) => {
    await cell(page, name).click()
    await page.evaluate(`{
      const data = new DataTransfer()
      ${content}
      const options = { clipboardData: data, bubbles: true, cancelable: true }
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', options))
    }`)
  }

  t.test('an image is not pasted into a cell', async (t) => {
    const page = await openGrid(t)
    await paste(page, 'note 1', "data.items.add(new File(['x'], 'image.png', { type: 'image/png' }))")
    await paste(page, 'name 1', "data.setData('text/plain', 'pasted')")
    await cell(page, 'pasted').waitFor()
    await saved(page)
    t.match(await read(1), { name: 'pasted', note: 'note 1' })
  })

  t.test('a paste after Escape is compared with what the cell shows now', async (t) => {
    const page = await openGrid(t)
    await cell(page, 'note 2').dblclick()
    await page.keyboard.press('Escape')
    dataOf(await admin.put(pathOf(2), { note: 'theirs' }))
    // The grid is loaded again after each change.
    await enter(page, 'note 3', 'mine')
    await cell(page, 'theirs').waitFor()
    await paste(page, 'theirs', "data.setData('text/plain', 'pasted')")
    await cell(page, 'pasted').nth(1).waitFor()
    await saved(page)
    t.equal(await page.getByRole('dialog').count(), 0)
    t.match(await read(2), { note: 'pasted' })
  })

  t.test('a record that is created after the user has left does not open', async (t) => {
    const page = await openGrid(t, '?new=true')
    const { waitForSent, release } = await holdRequests(page, 'POST')
    await page.getByLabel('name', { exact: true }).fill('late')
    await button(page, 'Create').click()
    await waitForSent(1)
    await page.getByRole('button', { name: 'Open record of row 3 (Ctrl+Enter)' }).click()
    await question(page).getByRole('button', { name: 'Discard' }).click()
    await panel(page, 3).waitFor()
    release()
    await notice(page, 'Created cups 10').waitFor()
    await cell(page, 'late').waitFor()
    t.ok(await panel(page, 3).isVisible())
  })

  t.test('a record that is deleted after the user has left does not close another panel', async (t) => {
    const page = await openGrid(t, '?record=9')
    const { waitForSent, release } = await holdRequests(page, 'DELETE')
    await button(page, 'Delete cups 9').click()
    await page.getByRole('dialog', { name: 'Delete cups 9?' }).getByRole('button', { name: 'Delete cups 9' }).click()
    await waitForSent(1)
    await page.keyboard.press('Escape')
    await openRecord(page, 4)
    release()
    await notice(page, 'Deleted cups 9').waitFor()
    await cell(page, 'name 9').waitFor({ state: 'detached' })
    t.ok(await panel(page, 4).isVisible())
    await button(page, 'Undo').dblclick()
    await notice(page, 'cups 9 is back').waitFor()
    await cell(page, 'name 9').waitFor()
    t.equal(await notice(page, 'cups 9 could not be created again').count(), 0)
  })

  t.test('a panel that the user wants to leave closes when it is saved', async (t) => {
    const page = await openGrid(t, '?record=5')
    const { waitForSent, release } = await holdRequests(page, 'PUT')
    await panel(page, 5).getByLabel('note', { exact: true }).fill('in time')
    await button(page, 'Save').click()
    await waitForSent(1)
    await page.keyboard.press('Escape')
    await question(page).waitFor()
    release()
    await question(page).waitFor({ state: 'detached' })
    await panel(page, 5).waitFor({ state: 'detached' })
    t.match(await read(5), { note: 'in time' })
  })

  t.test('cells that wait are not saved after "Discard"', async (t) => {
    const page = await openGrid(t)
    const { sent, waitForSent, release } = await holdRequests(page, 'PUT')
    await enter(page, 'name 6', 'sent')
    await waitForSent(1)
    await enter(page, 'note 6', 'discarded')
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await question(page).getByRole('button', { name: 'Discard' }).click()
    await question(page).waitFor({ state: 'detached' })
    release()
    // Another change of the record is sent after those that wait.
    await page.getByRole('link', { name: 'cups', exact: true }).first().click()
    await enter(page, 'note 6', 'last')
    await cell(page, 'last').waitFor()
    await saved(page)
    t.strictSame(sent, [{ name: 'sent' }, { note: 'last' }])
    t.match(await read(6), { name: 'sent', note: 'last' })
  })

  t.test('Escape does not hide that a cell is being saved', async (t) => {
    const page = await openGrid(t)
    const { waitForSent, release } = await holdRequests(page, 'PUT')
    await enter(page, 'name 7', 'kept')
    await waitForSent(1)
    await cell(page, 'kept').click()
    await page.keyboard.press('Escape')
    t.equal(await cell(page, 'kept').count(), 1)
    release()
    await saved(page)
    t.match(await read(7), { name: 'kept' })
  })
}

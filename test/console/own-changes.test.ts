import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { skip, startConsole } from './console.ts'
import { cell, holdRequests, saved } from './grid.ts'

const SQL = `
  CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER, note TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
  INSERT INTO animal SELECT i, 'name ' || i, i, 'note ' || i FROM n;`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'animal' }))
  const pathOf = (pk: number) => `/admin/tables/${id}/data/${pk}`
  const read = async (pk: number) => dataOf(await admin.get(pathOf(pk)))

  /** Opens the grid and the panel of one of its records. */
  const openRecord = async (t: Test, pk: number) => {
    const page = await openAsAdmin(t, `tables/${id}?record=${pk}`)
    const panel = page.getByRole('dialog', { name: `animal ${pk}`, exact: true })
    const field = (name: string) => panel.getByLabel(name, { exact: true })
    await field('note').waitFor()
    await cell(page, `name ${pk}`).waitFor()
    return { page, field }
  }

  /** Opens the editor of a cell and types a value. */
  const type = async (page: Page, content: string, value: string) => {
    await cell(page, content).dblclick()
    await page.keyboard.press('Control+a')
    await page.keyboard.type(value)
  }
  const enter = async (page: Page, content: string, value: string) => {
    await type(page, content, value)
    await page.keyboard.press('Enter')
  }
  const savePanel = (page: Page) => page.getByRole('button', { name: 'Save' }).click()
  const conflict = (page: Page, pk: number) =>
    page.getByRole('dialog', { name: `animal ${pk} has changed since you opened it`, exact: true })

  /** Waits for a notice, or for a conflict, which would be wrong. */
  const expectSaved = async (t: Test, page: Page, pk: number) => {
    await page.getByText(`Saved animal ${pk}`, { exact: true }).or(conflict(page, pk)).first().waitFor()
    t.equal(await conflict(page, pk).count(), 0, 'no conflict with oneself')
  }

  t.test('the panel takes over cells that are saved in the grid', async (t) => {
    const { page, field } = await openRecord(t, 1)
    await field('name').fill('Ann')
    await enter(page, 'note 1', 'in the grid')
    await enter(page, 'in the grid', 'again')
    await saved(page)
    await page.locator('textarea', { hasText: 'again' }).waitFor()
    t.equal(await field('name').inputValue(), 'Ann')
    await savePanel(page)
    await expectSaved(t, page, 1)
    t.match(await read(1), { name: 'Ann', note: 'again' })
  })

  t.test('the panel waits for a cell that is being saved', async (t) => {
    const { page, field } = await openRecord(t, 2)
    const { waitForSent, release } = await holdRequests(page, 'PUT')
    await field('name').fill('Ben')
    await type(page, 'note 2', 'in the grid')
    // The click ends the edit of the cell.
    await savePanel(page)
    await waitForSent(1)
    release()
    await expectSaved(t, page, 2)
    await saved(page)
    t.match(await read(2), { name: 'Ben', note: 'in the grid' })
  })

  t.test('a cell waits for the panel that is being saved', async (t) => {
    const { page, field } = await openRecord(t, 3)
    const { waitForSent, release } = await holdRequests(page, 'PUT')
    await field('name').fill('Cat')
    await savePanel(page)
    await waitForSent(1)
    await enter(page, 'note 3', 'in the grid')
    release()
    await expectSaved(t, page, 3)
    await saved(page)
    t.equal(await conflict(page, 3).count(), 0)
    t.match(await read(3), { name: 'Cat', note: 'in the grid' })
  })

  t.test('a cell is saved without a conflict if the panel has saved another field during its edit', async (t) => {
    const { page, field } = await openRecord(t, 4)
    await field('name').fill('Dan')
    await type(page, 'note 4', 'in the grid')
    await page.keyboard.press('Control+s')
    await expectSaved(t, page, 4)
    await page.getByRole('textbox', { name: 'note' }).first().press('Enter')
    await page.getByRole('gridcell', { name: 'in the grid' }).or(conflict(page, 4)).first().waitFor()
    await saved(page)
    t.equal(await conflict(page, 4).count(), 0)
    t.match(await read(4), { name: 'Dan', note: 'in the grid' })
  })

  t.test('the panel shows a conflict for a field that the grid has saved', async (t) => {
    const { page, field } = await openRecord(t, 5)
    await field('note').fill('in the panel')
    await enter(page, 'note 5', 'in the grid')
    await saved(page)
    await savePanel(page)
    await conflict(page, 5).getByRole('row', { name: 'note in the panel in the grid' }).waitFor()
    await conflict(page, 5).getByRole('button', { name: 'Keep mine' }).click()
    await page.getByText('Saved animal 5', { exact: true }).waitFor()
    t.match(await read(5), { note: 'in the panel' })
  })

  t.test('the grid shows a conflict for a field that the panel has saved during its edit', async (t) => {
    const { page, field } = await openRecord(t, 6)
    await field('note').fill('in the panel')
    await type(page, 'note 6', 'in the grid')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved animal 6', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'note' }).first().press('Enter')
    await conflict(page, 6).getByRole('button', { name: 'Take theirs' }).click()
    t.match(await read(6), { note: 'in the panel' })
  })

  t.test('the panel keeps what others have changed in other fields', async (t) => {
    const { page, field } = await openRecord(t, 7)
    await field('name').fill('mine')
    dataOf(await admin.put(pathOf(7), { lives: 70 }))
    await savePanel(page)
    await expectSaved(t, page, 7)
    t.match(await read(7), { name: 'mine', lives: 70 })
    t.equal(await field('lives').inputValue(), '70')
  })

  t.test('a conflict lists only what the user has changed', async (t) => {
    const { page, field } = await openRecord(t, 9)
    await field('name').fill('again')
    dataOf(await admin.put(pathOf(9), { name: 'theirs', lives: 71 }))
    await savePanel(page)
    await conflict(page, 9).getByRole('row', { name: 'name again theirs' }).waitFor()
    t.equal(await conflict(page, 9).getByRole('row').count(), 2, 'the head, and one field')
    await conflict(page, 9).getByRole('button', { name: 'Take theirs' }).click()
    // The grid does not show the old value until it is loaded again.
    await cell(page, 'theirs').waitFor()
    t.match(await read(9), { name: 'theirs', lives: 71 })
  })

  t.test('a cell shows at once what the panel has saved', async (t) => {
    const { page, field } = await openRecord(t, 8)
    await field('note').fill('shown at once')
    // The pages of the grid are not loaded again.
    await page.route('**/data?*', () => {})
    await savePanel(page)
    await expectSaved(t, page, 8)
    await enter(page, 'shown at once', 'in the grid')
    await saved(page)
    t.equal(await conflict(page, 8).count(), 0)
    t.match(await read(8), { note: 'in the grid' })
  })
}

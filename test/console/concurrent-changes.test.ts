import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase, createTable, dataOf } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'
import { cell, enter, holdRequests, saved } from './grid.ts'

const SQL = `
  CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER CHECK (lives < 10), note TEXT);
  INSERT INTO animal VALUES (1, 'Ann', 5, 'a'), (2, 'Ben', 6, 'b'), (3, 'Cat', 7, 'c');`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const { id } = await createTable(admin, {
    name: 'pets',
    fields: [
      { name: 'id', jsonType: 'integer', isPrimary: true },
      { name: 'name', jsonType: 'string' }
    ]
  })
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom' }))
  const animals = dataOf(await admin.post('/admin/tables/import', { name: 'animal' })).id
  const readAnimal = async (pk: number) => dataOf(await admin.get(`/admin/tables/${animals}/data/${pk}`))
  const table = async () => dataOf(await admin.get(`/admin/tables/${id}`))

  /** As when the user comes back to the tab: all data that is shown is read again. */
  const comeBack = (page: Page) => page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")

  t.test('the settings of a table send only what was edited', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}/structure`)
    await page.getByLabel('Label', { exact: true }).fill('Our pets')
    dataOf(await admin.put(`/admin/tables/${id}`, { isPublished: false }))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Our pets', level: 1 }).waitFor()
    t.match(await table(), { label: 'Our pets', isPublished: false })
    dataOf(await admin.put(`/admin/tables/${id}`, { label: '', isPublished: true }))
  })

  t.test('the form of a token sends only what was edited', async (t) => {
    const issued = dataOf(
      await admin.post('/admin/tokens', {
        name: 'shop',
        permissions: { tables: ['pets'], actions: ['read', 'delete'] }
      })
    )
    const page = await openAsAdmin(t, `tokens/${issued.id}`)
    await page.getByLabel('Name', { exact: true }).fill('web shop')
    const permissions = { tables: ['pets'], actions: ['read'] }
    dataOf(await admin.put(`/admin/tokens/${issued.id}`, { permissions }))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('rowheader', { name: 'web shop' }).waitFor()
    const [token] = dataOf(await admin.get('/admin/tokens'))
    t.match(token, { name: 'web shop', permissions })
  })

  t.test('a form stays open when the service fails for a moment', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}?record=1`)
    const name = page.getByRole('textbox', { name: 'name' })
    await name.fill('Tomcat')
    const failed = page.waitForResponse((response) => response.status() === 500)
    await page.route('**/admin/tables/*', (route) => route.fulfill({ status: 500, body: '{}' }))
    // Data is read again once it is older than five seconds.
    await page.clock.setSystemTime(Date.now() + 10_000)
    await comeBack(page)
    await failed
    t.equal(await name.inputValue(), 'Tomcat')
  })

  t.test('an address with a filter that is none shows the table', async (t) => {
    for (const filter of ['{"where":null}', '{"all":{}}', '{"any":[null]}', '{"where":{"name":null}}']) {
      const page = await openAsAdmin(t, `tables/${id}?filter=${encodeURIComponent(filter)}`)
      await page.getByRole('grid').or(page.getByRole('alert')).first().waitFor()
      t.equal(await page.getByText('This page cannot be shown.').count(), 0, filter)
    }
  })

  t.test('the records that were pasted are shown', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}`)
    await page.getByRole('gridcell', { name: 'Tom', exact: true }).waitFor()
    await page.evaluate(`{
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'id\\tname\\n5\\tKit\\n6\\tFelix')
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
    }`)
    await page.getByRole('button', { name: /^(?:Create|Paste)/ }).click()
    await page.getByRole('gridcell', { name: 'Felix', exact: true }).waitFor()
  })

  t.test('a refused cell is lost only if the user says so, and a change of the view keeps it', async (t) => {
    const page = await openAsAdmin(t, `tables/${animals}`)
    await enter(page, '7', '12')
    const refused = page.getByRole('gridcell').getByRole('alert')
    await refused.waitFor()
    await page.getByText('1 cell is not saved').waitFor()
    await page.getByRole('columnheader', { name: 'name' }).click()
    await page.waitForURL(/order=name/)
    await refused.waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('nobody')
    await page.getByRole('heading', { name: 'No record matches.' }).waitFor()
    await page.getByRole('button', { name: 'Remove search and filter' }).click()
    await refused.waitFor()
    const question = page.getByRole('dialog', { name: 'Discard the unsaved changes?', exact: true })
    await page.getByRole('link', { name: 'pets', exact: true }).click()
    await question.waitFor()
    await photographPage(page, 'grid-leave')
    await question.getByRole('button', { name: 'Stay here' }).click()
    t.match(await refused.textContent(), /lives/)
    await page.getByRole('link', { name: 'pets', exact: true }).click()
    await question.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'pets', level: 1 }).waitFor()
    t.match(await readAnimal(3), { lives: 7 })
  })

  t.test('saved and discarded cells are left without a question', async (t) => {
    const page = await openAsAdmin(t, `tables/${animals}`)
    await enter(page, 'c', 'saved')
    await enter(page, '7', 'many')
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'pets', exact: true }).click()
    await page.getByRole('heading', { name: 'pets', level: 1 }).waitFor()
    t.match(await readAnimal(3), { lives: 7, note: 'saved' })
  })

  t.test('a panel and a refused cell ask one after the other', async (t) => {
    const page = await openAsAdmin(t, `tables/${animals}`)
    await enter(page, '7', '12')
    await page.getByRole('gridcell').getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Open record of row 1 (Ctrl+Enter)' }).click()
    const panel = page.getByRole('dialog', { name: 'animal 1', exact: true })
    await panel.getByLabel('note', { exact: true }).fill('unsaved')
    await page.getByRole('columnheader', { name: 'name' }).click()
    await page.waitForURL(/order=name/)
    t.equal(await panel.getByLabel('note', { exact: true }).inputValue(), 'unsaved')
    await page.getByRole('link', { name: 'pets', exact: true }).click()
    const question = page.getByRole('dialog', { name: 'Discard the unsaved changes?', exact: true })
    await question.getByText('You have changed animal 1').waitFor()
    await question.getByRole('button', { name: 'Discard' }).click()
    await question.getByText('1 cell of animal is not saved').waitFor()
    await question.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'pets', level: 1 }).waitFor()
  })

  t.test('the back button keeps a refused cell while the table stays, and asks before it leaves', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}`)
    await page.getByRole('link', { name: 'animal', exact: true }).click()
    await cell(page, 'Cat').waitFor()
    await page.getByRole('columnheader', { name: 'name' }).click()
    await page.waitForURL(/order=name/)
    await enter(page, '7', '12')
    const refused = page.getByRole('gridcell').getByRole('alert')
    await refused.waitFor()
    await page.goBack()
    await page.waitForURL(/tables\/\d+$/)
    await refused.waitFor()
    await page.goBack()
    const question = page.getByRole('dialog', { name: 'Discard the unsaved changes?', exact: true })
    await question.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'pets', level: 1 }).waitFor()
    t.match(page.url(), new RegExp(`tables/${id}$`))
  })

  t.test('cells of one record are saved one after the other', async (t) => {
    const page = await openAsAdmin(t, `tables/${animals}`)
    await cell(page, 'Ann').waitFor()
    const { sent, waitForSent, release } = await holdRequests(page, 'PUT')
    await enter(page, 'Ann', 'Anna')
    await waitForSent(1)
    await enter(page, 'a', 'first')
    // The same cell again, before it is saved.
    await enter(page, 'Anna', 'Annabel')
    t.strictSame(sent, [{ name: 'Anna' }])
    release()
    await saved(page)
    t.equal(await page.getByRole('dialog').count(), 0)
    t.strictSame(sent, [{ name: 'Anna' }, { note: 'first' }, { name: 'Annabel' }])
    t.match(await readAnimal(1), { name: 'Annabel', note: 'first' })
    await cell(page, 'Annabel').waitFor()
  })

  t.test('several conflicts are shown one after the other', async (t) => {
    const page = await openAsAdmin(t, `tables/${animals}`)
    await cell(page, 'Ben').waitFor()
    const { waitForSent, release } = await holdRequests(page, 'PUT')
    await enter(page, 'Ben', 'my Ben')
    await enter(page, 'Cat', 'my Cat')
    await waitForSent(2)
    dataOf(await admin.put(`/admin/tables/${animals}/data/2`, { name: 'their Ben' }))
    dataOf(await admin.put(`/admin/tables/${animals}/data/3`, { name: 'their Cat' }))
    release()
    const dialog = (name: string) =>
      page.getByRole('dialog', { name: `${name} has changed since you opened it`, exact: true })
    await dialog('animal 2').or(dialog('animal 3')).first().waitFor()
    const isBenFirst = await dialog('animal 2').isVisible()
    const keep = async (pk: number) => {
      await dialog(`animal ${pk}`).getByRole('button', { name: 'Keep mine' }).click()
      await dialog(`animal ${pk}`).waitFor({ state: 'detached' })
    }
    await keep(isBenFirst ? 2 : 3)
    await keep(isBenFirst ? 3 : 2)
    await saved(page)
    t.match(await readAnimal(2), { name: 'my Ben' })
    t.match(await readAnimal(3), { name: 'my Cat' })
  })
}

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createTable, dataOf } from '../helpers.ts'
import { logIn, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, open } = await startConsole(t)
  const { id } = await createTable(admin, {
    name: 'pets',
    fields: [
      { name: 'id', jsonType: 'integer', isPrimary: true },
      { name: 'name', jsonType: 'string' }
    ]
  })
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom' }))
  const table = async () => dataOf(await admin.get(`/admin/tables/${id}`))

  const openAsAdmin = async (t: Test, path: string) => {
    const page = await open(t, path)
    await logIn(page)
    return page
  }

  /** As when the user comes back to the tab: all data that is shown is read again. */
  const comeBack = (page: Page) => page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")

  t.test('the settings of a table send only what was edited', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}/structure`)
    await page.getByLabel('Label', { exact: true }).fill('Our pets')
    dataOf(await admin.put(`/admin/tables/${id}`, { isPublished: false }))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Our pets', level: 1 }).waitFor()
    t.match(await table(), { label: 'Our pets', isPublished: false })
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
}

import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { bearer, createTable, dataOf, PASSWORD } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

const PAGE_ROWS = 50
const MANY = 70

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { app, admin, openAsAdmin } = await startConsole(t)
  const rowsOf = (page: Page) => page.getByRole('table', { name: 'Audit' }).locator('tbody tr')
  const latest = async (query: string) => dataOf(await admin.get(`/admin/audit?${query}`)).rows[0]
  /** Waits until the rows are those of a filter. */
  const shown = async (page: Page, count: number) => {
    await rowsOf(page)
      .nth(count - 1)
      .waitFor()
    await rowsOf(page).nth(count).waitFor({ state: 'detached' })
  }

  const { id } = await createTable(admin, {
    name: 'pets',
    fields: [
      { name: 'name', jsonType: 'string' },
      { name: 'born', jsonType: 'integer' }
    ]
  })
  dataOf(await admin.put(`/admin/tables/${id}`, { label: 'Pets', isPublished: false }))
  dataOf(await admin.post('/admin/admins', { name: 'grace', nickname: 'Grace Hopper', password: PASSWORD }))
  const permissions = { tables: ['pets'], actions: ['read', 'schema'] }
  const token = dataOf(await admin.post('/admin/tokens', { name: 'web shop', permissions }))
  dataOf(await admin.put(`/admin/tables/${id}`, { isPublished: true }))
  await app.inject({ url: '/data/pets/export', headers: bearer(token.token) })
  for (let index = 0; index < MANY; index += 1)
    dataOf(await admin.put(`/admin/tokens/${token.id}`, { isActive: index % 2 === 1 }))
  dataOf(await admin.post('/admin/backups'))

  t.test('the rows say who changed what, and a row opens its details', async (t) => {
    const page = await openAsAdmin(t, 'audit')
    await rowsOf(page)
      .nth(PAGE_ROWS - 1)
      .waitFor()
    const texts = await rowsOf(page).allInnerTexts()
    t.match(texts[0], /admin\s+Logged in/)
    t.match(texts[1], /admin\s+Backup made\s+.*-manual\.db\s+bytes: .* kB\s+127\.0\.0\.1/)
    t.match(texts[2], /admin\s+Token changed\s+web shop\s+isActive: yes\s+127\.0\.0\.1/)
    await photographPage(page, 'audit')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Token changed' }).first().click()
    const details = page.getByRole('dialog', { name: 'Token changed' })
    const { requestId } = await latest('action=token.change')
    await details.getByText(requestId).waitFor()
    await details.getByText(`web shop (id ${token.id})`).waitFor()
    t.match(await details.locator('pre').textContent(), '"isActive": true')
    await photographPage(page, 'audit-details')
    await expectAccessible(t, page)
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
  })

  t.test('“Show more” adds the next page, until there is none', async (t) => {
    const page = await openAsAdmin(t, 'audit?action=token')
    const more = page.getByRole('button', { name: 'Show more' })
    await shown(page, PAGE_ROWS)
    await more.focus()
    await page.keyboard.press('Enter')
    await shown(page, MANY + 1)
    await more.waitFor({ state: 'detached' })
    await rowsOf(page).last().getByText('Token created').waitFor()
  })

  t.test('the filters are in the address, and a link to them shows the same rows', async (t) => {
    const page = await openAsAdmin(t, 'audit')
    await page.getByLabel('Action').selectOption('Tables: all')
    await shown(page, 3)
    t.match((await rowsOf(page).allInnerTexts())[1], 'changed: label; isPublished: no')
    t.strictSame(await rowsOf(page).getByRole('button').allTextContents(), [
      'Table changed',
      'Table changed',
      'Table created'
    ])
    await page.getByLabel('Target').fill('PETS')
    await page.getByLabel('Caller').fill('admin')
    await page.waitForURL(/action=table&caller=admin&target=PETS$/)
    await shown(page, 3)
    await page.reload()
    await shown(page, 3)
    t.equal(await page.getByLabel('Caller').inputValue(), 'admin')
    await page.getByLabel('Action').selectOption('Table created')
    await shown(page, 1)
    await photographPage(page, 'audit-filtered')
    await page.getByLabel('Caller').fill('web shop')
    await page.getByRole('heading', { name: 'Nothing matches.' }).waitFor()
    await photographPage(page, 'audit-none')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Remove the filters' }).click()
    await rowsOf(page)
      .nth(PAGE_ROWS - 1)
      .waitFor()
    t.equal(await page.getByLabel('Caller').inputValue(), '')
    t.match(page.url(), /\/audit$/)
  })

  t.test('a change by a token names the token', async (t) => {
    const page = await openAsAdmin(t, 'audit?action=export')
    await shown(page, 1)
    t.match(await rowsOf(page).innerText(), /web shop token\s+Exported\s+pets\s+format: csv; isFiltered: no/)
  })

  t.test('the times of a filter are local, and a year that is being typed is none', async (t) => {
    const page = await openAsAdmin(t, 'audit?action=admin', { timezoneId: 'Asia/Tokyo' })
    await shown(page, 2)
    await page.getByLabel('Before').fill('0002-01-01T00:00')
    await page.getByLabel('From').fill('2001-02-03T04:05')
    await page.waitForURL(new RegExp(`from=${Date.parse('2001-02-03T04:05:00+09:00')}$`))
    await shown(page, 2)
    await page.getByLabel('Before').fill('2001-02-04T00:00')
    await page.getByRole('heading', { name: 'Nothing matches.' }).waitFor()
    await page.getByLabel('Before').fill('')
    await shown(page, 2)
  })

  t.test('an address with a wrong time shows the sentence of the service, and an unknown action is kept', async (t) => {
    const page = await openAsAdmin(t, 'audit?action=of.tomorrow&from=soon')
    await page.getByRole('alert').getByText('from').first().waitFor()
    t.equal(await page.getByLabel('Action').inputValue(), 'of.tomorrow')
    await page.getByLabel('Action').selectOption('Backups: all')
    await page.getByRole('alert').waitFor()
  })

  t.test('the rows of the filter are downloaded as NDJSON', async (t) => {
    const page = await openAsAdmin(t, 'audit?action=table&target=pets')
    await shown(page, 3)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download as NDJSON' }).click()
    ])
    t.match(file.suggestedFilename(), /\.ndjson$/)
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n')
    t.strictSame(
      lines.map((line) => JSON.parse(line).action),
      ['table.change', 'table.change', 'table.create']
    )
  })

  t.test('a page that fails to load can be loaded again', async (t) => {
    const page = await openAsAdmin(t, 'audit?action=token')
    await shown(page, PAGE_ROWS)
    await page.route(/audit\?.*before=/, (route) => route.fulfill({ status: 500, body: '{}' }))
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('alert').waitFor()
    t.equal(await rowsOf(page).count(), PAGE_ROWS, 'the first page stays')
    await page.unroute(/audit\?.*before=/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await shown(page, MANY + 1)
    t.equal(await page.getByRole('alert').count(), 0)
  })

  t.test('names of callers and targets are shown as text, however odd or long', async (t) => {
    const name = `<img src=x onerror=alert(1)> \u202e\u05d0 ${'x'.repeat(60)}`
    const odd = dataOf(await admin.post('/admin/tokens', { name, permissions }))
    await app.inject({ url: '/data/pets/export', headers: bearer(odd.token) })
    const page = await openAsAdmin(t, `audit?caller=${encodeURIComponent(name)}`)
    await shown(page, 1)
    await expectAccessible(t, page)
    await page.getByLabel('Caller').fill('')
    await page.getByLabel('Target').fill(name)
    await page.getByRole('button', { name: 'Token created' }).click()
    await page.getByRole('dialog').getByText(name).waitFor()
    await expectAccessible(t, page)
  })
}

import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase } from '../fixtures.ts'
import { dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

const SHOP = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  INSERT INTO customers VALUES (17, 'Ada'), (18, 'Bo');
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
    state TEXT NOT NULL DEFAULT 'open', note TEXT, total REAL);
  INSERT INTO orders VALUES (1, 17, 'open', 'a secret', 5), (2, 18, 'open', NULL, 7), (3, 17, 'paid', NULL, 9);
  CREATE TABLE stock (id INTEGER PRIMARY KEY, product TEXT);
`

const OWN = { customer_id: { eq: { $claim: 'customer' } } }
const GRANTS = [
  {
    tables: ['orders'],
    actions: ['read', 'create', 'update', 'delete'],
    rows: { where: OWN },
    fields: { read: ['id', 'customer_id', 'state', 'total'] },
    presets: { customer_id: { $claim: 'customer' } }
  },
  { tables: ['customers'], actions: ['read'], rows: { where: { id: { eq: { $claim: 'customer' } } } } }
]

const search = (page: Page) => page.getByRole('searchbox', { name: 'Search', exact: false }).last()

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SHOP) })
  const imported = dataOf(await admin.post('/admin/tables/import', { names: ['customers', 'orders', 'stock'] }))
  const customers = imported.tables?.find(({ name }: { name: string }) => name === 'customers')
  dataOf(await admin.put(`/admin/tables/${customers?.id ?? 1}`, { labelField: 'name' }))
  dataOf(await admin.post('/admin/roles', { name: 'customer', grants: GRANTS }))
  const issue = async (claims: object): Promise<number> =>
    dataOf(await admin.post('/admin/tokens', { name: 'Shop', role: 'customer', claims })).id

  t.test('the grid shows what a token sees, read-only', async (t) => {
    const id = await issue({ customer: 17 })
    const page = await openAsAdmin(t, `tokens/${id}`)
    const bearers: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/data/')) bearers.push(request.headers().authorization ?? '')
    })
    await page.getByRole('link', { name: 'View as this token' }).click()
    await page.getByText('You see what the token “Shop” sees.').waitFor()
    const choice = page.getByLabel('Table', { exact: true })
    await choice.selectOption('orders')
    t.strictSame(await choice.locator('option').allTextContents(), ['customers', 'orders'])
    await page.getByRole('gridcell', { name: 'paid' }).waitFor()
    await page.getByText('2 records').waitFor()
    await page.getByRole('gridcell', { name: 'Ada' }).first().waitFor()
    await photographPage(page, 'token-view')
    await expectAccessible(t, page)

    t.strictSame(await page.getByRole('columnheader').allTextContents(), ['Row', 'id', 'customer_id', 'state', 'total'])
    t.equal(await page.getByText('a secret').count(), 0)
    t.equal(await page.getByRole('checkbox').count(), 0, 'no row can be selected')
    const cell = page.getByRole('gridcell', { name: 'paid' })
    await cell.dblclick()
    await page.keyboard.press('x')
    await page.keyboard.press('Enter')
    t.equal(await cell.count(), 1, 'no cell can be edited')
    t.ok(await page.getByRole('button', { name: /^Open record of row 1 / }).isDisabled())

    await page.getByRole('columnheader', { name: 'total' }).click()
    await page.waitForURL(/order=total/)
    await search(page).fill('paid')
    await page.getByText('1 matching record').waitFor()
    await search(page).fill('')
    await page.getByText('2 records').waitFor()
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByLabel('Field', { exact: true }).selectOption('state')
    await page.getByLabel('Value', { exact: true }).fill('open')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1 matching record').waitFor()

    t.ok(bearers.length > 0)
    t.ok(bearers.every((bearer) => /^Bearer rhv_/.test(bearer)))
    t.notMatch(page.url(), 'rhv_')
    t.equal(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage }).includes("rhv_")'), false)

    await page.getByRole('link', { name: 'Leave this view' }).click()
    await page.getByRole('heading', { name: 'Shop' }).waitFor()
  })

  t.test('a view that has ended is replaced', async (t) => {
    const id = await issue({ customer: 18 })
    const page = await openAsAdmin(t, `tokens/${id}/view?table=orders`)
    await page.getByText('1 record').waitFor()
    let refused = 0
    await page.route('**/data/orders?*', async (route) => {
      if (refused > 0) return route.continue()
      refused += 1
      return route.fulfill({ status: 401, contentType: 'application/json', body: '{}' })
    })
    const renewed = page.waitForRequest((request) => request.url().endsWith(`/admin/tokens/${id}/view`))
    await search(page).fill('paid')
    await renewed
    await page.getByRole('heading', { name: 'No record matches' }).waitFor()
    t.equal(refused, 1)
  })

  t.test('a token that sees nothing, and one that is switched off, say so', async (t) => {
    const id = await issue({})
    const page = await openAsAdmin(t, `tokens/${id}/view`)
    await page.getByRole('heading', { name: 'This token sees no table.' }).waitFor()
    await photographPage(page, 'token-view-nothing')
    await expectAccessible(t, page)
    dataOf(await admin.put(`/admin/tokens/${id}`, { isActive: false }))
    await page.reload()
    await page.getByRole('heading', { name: 'The token is no longer valid' }).waitFor()
    const missing = await openAsAdmin(t, 'tokens/999/view')
    await missing.getByRole('heading', { name: 'There is no such token.' }).waitFor()
  })

  t.test('the page of a token explains its rights', async (t) => {
    const id = await issue({ customer: 17 })
    const page = await openAsAdmin(t, `tokens/${id}`)
    const box = page.getByRole('region', { name: 'What may this token do?' })
    await box.getByLabel('Table').selectOption('orders')
    await box.getByLabel('Key of a record').fill('2')
    await box.getByRole('button', { name: 'Explain' }).click()
    await box.getByText("Grant 1 of the role 'customer' opens the action 'read'").waitFor()
    await box.getByText('Records where customer_id equals 17.').waitFor()
    await box.getByText('It exists, but the token cannot reach it.').waitFor()
    await box.scrollIntoViewIfNeeded()
    await photographPage(page, 'token-explain')
    await expectAccessible(t, page)
    await box.getByLabel('Key of a record').fill('9')
    await box.getByRole('button', { name: 'Explain' }).click()
    await box.getByText('There is no such record.').waitFor()
    await box.getByLabel('Action').selectOption('create')
    await box.getByRole('button', { name: 'Explain' }).click()
    await box.getByText('customer_id: 17').waitFor()
    await box.getByLabel('Table').selectOption('stock')
    await box.getByLabel('Action').selectOption('delete')
    await box.getByRole('button', { name: 'Explain' }).click()
    await box.getByText('Not allowed').waitFor()
    t.equal(await box.getByText('No records.').count(), 1)
  })
}

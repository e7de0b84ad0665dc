import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'
import { cell, saved } from './grid.ts'

const SQL = `
  CREATE TABLE employees (id INTEGER PRIMARY KEY, LastName TEXT, FirstName TEXT);
  INSERT INTO employees VALUES (1, 'Davolio', 'Nancy'), (2, 'Fuller', 'Andrew'), (5, 'Buchanan', 'Steven'), (12, NULL, 'Nobody');
  CREATE TABLE customers (code TEXT PRIMARY KEY, CompanyName TEXT);
  INSERT INTO customers VALUES ('ALFKI', 'Alfreds Futterkiste'), ('BONAP', 'Bon app''');
  CREATE TABLE orders (id INTEGER PRIMARY KEY, title TEXT, employee INTEGER REFERENCES employees (id),
    customer TEXT REFERENCES customers (code), note TEXT, scan BLOB);
  INSERT INTO orders VALUES (1, 'First order', 5, 'ALFKI', 'urgent', x'00ff07'), (2, 'Second order', 2, 'BONAP', NULL, NULL),
    (3, 'Third order', NULL, 'ALFKI', NULL, NULL), (4, 'Fourth order', 12, 'ALFKI', NULL, NULL);
  CREATE TABLE parts (order_id INTEGER REFERENCES orders (id), line INTEGER, PRIMARY KEY (order_id, line)) WITHOUT ROWID;
  INSERT INTO parts VALUES (1, 1);
  CREATE TABLE odd (id INTEGER PRIMARY KEY, expand INTEGER REFERENCES employees (id), "a,b" TEXT);
  INSERT INTO odd VALUES (1, 5, 'x');
`

const TABLES = ['employees', 'customers', 'orders', 'parts', 'odd']

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const imported: { id: number; name: string }[] = dataOf(await admin.post('/admin/tables/import', { names: TABLES }))
  const idOf = (name: string) => imported.find((table) => table.name === name)?.id
  const pathOf = (name: string, query = '') => `tables/${idOf(name)}${query}`
  /** A cell with a reference. Its name also has that of its link. */
  const reference = (page: Page, text: string | RegExp) => page.getByRole('gridcell', { name: text })
  const order = async (pk: number) => dataOf(await admin.get(`/admin/${pathOf('orders')}/data/${pk}`))

  /** Collects the requests for pages of records, and those for single records of other tables. */
  const watch = (page: Page) => {
    const urls: URL[] = []
    page.on('request', (request) => urls.push(new URL(request.url())))
    return {
      pages: () =>
        urls.filter(({ pathname, searchParams }) => /\/data$/.test(pathname) && searchParams.get('size') === '30'),
      lookups: () => urls.filter(({ pathname }) => /\/(?:query|data\/.+)$/.test(pathname))
    }
  }

  t.test('the grid shows the labels of the records to which a record refers, in one request', async (t) => {
    const page = await openAsAdmin(t, 'tables')
    const requests = watch(page)
    await page.getByRole('navigation').getByRole('link', { name: 'orders' }).click()
    await reference(page, 'Buchanan 5').waitFor()
    await reference(page, 'Alfreds Futterkiste ALFKI').first().waitFor()
    t.equal(await reference(page, '12 Open').count(), 1, 'a record without a label is shown by its key')
    t.equal(requests.pages().length, 1)
    t.strictSame(requests.lookups(), [])
    await photographPage(page, 'labels-grid')
  })

  t.test('a page has only the fields that the grid shows, and no bytes', async (t) => {
    const page = await openAsAdmin(t, pathOf('orders'))
    const requests = watch(page)
    await page.reload()
    await cell(page, 'BLOB').first().waitFor()
    t.equal(requests.pages()[0]?.searchParams.get('fields'), 'id,title,employee,customer,note')
    await page.getByRole('button', { name: 'Columns' }).click()
    for (const name of ['note', 'employee']) await page.getByRole('checkbox', { name, exact: true }).click()
    await page.keyboard.press('Escape')
    await cell(page, 'First order').waitFor()
    const last = requests.pages().at(-1)?.searchParams
    t.equal(last?.get('fields'), 'id,title,customer')
    t.equal(last?.get('expand'), 'customer(CompanyName)')
    await cell(page, 'First order').click()
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByText('3 B', { exact: true }).waitFor()
    await page.getByLabel('note', { exact: true }).waitFor()
    t.equal(await page.getByLabel('note', { exact: true }).inputValue(), 'urgent')
  })

  t.test('a cell is edited by the name of a record, or by its key', async (t) => {
    const page = await openAsAdmin(t, pathOf('orders'))
    const search = page.getByRole('combobox', { name: 'Search employees' })
    await reference(page, 'Buchanan 5').dblclick()
    await page.getByLabel('employee', { exact: true }).click()
    await search.fill('full')
    await page.getByRole('option', { name: 'Fuller 2' }).waitFor()
    await photographPage(page, 'labels-editor')
    await page.getByRole('option', { name: 'Fuller 2' }).click()
    await page.keyboard.press('Enter')
    await saved(page)
    await reference(page, 'Fuller 2').nth(1).waitFor()
    t.equal((await order(1)).employee, 2)
    await reference(page, 'Fuller 2').first().dblclick()
    await page.getByLabel('employee', { exact: true }).click()
    await search.fill('5')
    await page.getByRole('option', { name: 'Buchanan 5' }).waitFor()
    t.equal(await page.getByRole('option').count(), 1)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await saved(page)
    await reference(page, 'Buchanan 5').waitFor()
    t.equal((await order(1)).employee, 5)
  })

  t.test('a saved cell keeps the other labels of its record', async (t) => {
    const page = await openAsAdmin(t, pathOf('orders'))
    await cell(page, 'Second order').click()
    await page.route(/\/data\?/, () => {})
    await page.keyboard.type('Another')
    await page.keyboard.press('Enter')
    await saved(page)
    await cell(page, 'Another').waitFor()
    t.equal(await reference(page, "Bon app' BONAP").count(), 1)
    t.equal((await order(2)).title, 'Another')
  })

  t.test('a filter takes a record, and its sentence has the label', async (t) => {
    const page = await openAsAdmin(t, pathOf('orders'))
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Filter records' })
    await dialog.getByLabel('Field').selectOption('customer')
    await dialog.getByLabel('Value').click()
    await page.getByRole('combobox', { name: 'Search customers' }).fill('bon')
    await page.getByRole('option', { name: "Bon app' BONAP" }).click()
    await photographPage(page, 'labels-filter')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.getByText("customer is Bon app' (“BONAP”)").waitFor()
    await reference(page, "Bon app' BONAP").waitFor()
    t.equal(await cell(page, 'First order').count(), 0)
  })

  t.test('the panel shows the labels of references and of linked records', async (t) => {
    const page = await openAsAdmin(t, pathOf('orders', '?record=1'))
    const panel = page.getByRole('dialog', { name: 'orders 1' })
    await panel.getByLabel('employee', { exact: true }).getByText('Buchanan').waitFor()
    await photographPage(page, 'labels-panel')
    await page.goto(new URL(pathOf('customers', '?record=ALFKI'), new URL('/console/', page.url())).href)
    await page.getByRole('link', { name: 'Third order 3' }).waitFor()
    await photographPage(page, 'labels-linked')
    await page.getByRole('link', { name: 'Third order 3' }).click()
    await page.getByRole('dialog', { name: 'orders 3' }).waitFor()
    await page.goto(new URL(pathOf('parts', '?record=1,1'), new URL('/console/', page.url())).href)
    await page.getByRole('dialog').getByText('First order').waitFor()
  })

  t.test('a table without expansions shows keys', async (t) => {
    const page = await openAsAdmin(t, pathOf('odd'))
    await reference(page, '5 Open 5').waitFor()
    await cell(page, 'x').waitFor()
  })

  t.test('the label field is chosen in the settings of the structure', async (t) => {
    const page = await openAsAdmin(t, pathOf('employees', '/structure'))
    const choice = page.getByLabel('Label field')
    const choose = async (label: string) => {
      await choice.selectOption({ label })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The settings of employees are saved.').last().waitFor()
    }
    await choice.waitFor()
    t.strictSame(await choice.locator('option').allTextContents(), ['None', 'id', 'LastName', 'FirstName'])
    await choose('FirstName')
    await photographPage(page, 'labels-structure')
    await page.getByRole('navigation').getByRole('link', { name: 'orders' }).click()
    await reference(page, 'Steven 5').waitFor()
    await page.goBack()
    await choose('None')
    await page.getByRole('navigation').getByRole('link', { name: 'orders' }).click()
    await reference(page, '5 Open 5').waitFor()
  })

  t.test('records are shown without labels if the other table is not served any more', async (t) => {
    const page = await openAsAdmin(t, pathOf('orders'))
    await reference(page, 'Alfreds Futterkiste ALFKI').first().waitFor()
    dataOf(await admin.delete(`/admin/${pathOf('customers')}?confirm=true`))
    await page.getByRole('searchbox', { name: 'Search' }).fill('Third')
    await reference(page, /^ALFKI/).waitFor()
    await cell(page, 'Third order').waitFor()
  })
}

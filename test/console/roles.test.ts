import t from 'tap'
import { createDatabase } from '../fixtures.ts'
import { bearer, dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

const SHOP = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  INSERT INTO customers VALUES (17, 'Ada'), (18, 'Bo');
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
    state TEXT NOT NULL DEFAULT 'open', note TEXT, total REAL, is_paid BOOLEAN NOT NULL DEFAULT 0);
  INSERT INTO orders (id, customer_id, state) VALUES (1, 17, 'open'), (2, 18, 'open'), (3, 17, 'archived');
  CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id), product TEXT);
  CREATE VIEW order_states AS SELECT state, count(*) AS number FROM orders GROUP BY state;
`

const OWN = { customer_id: { eq: { $claim: 'customer' } } }

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { app, admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SHOP) })
  dataOf(await admin.post('/admin/tables/import', { names: ['customers', 'orders', 'items', 'order_states'] }))
  const roles = async () => dataOf(await admin.get('/admin/roles'))
  const roleNamed = async (name: string) => (await roles()).find((role: { name: string }) => role.name === name)
  const create = async (name: string, grants: readonly object[]) =>
    dataOf(await admin.post('/admin/roles', { name, grants }))

  t.test('an empty list says what a role is', async (t) => {
    const page = await openAsAdmin(t, 'roles')
    await page.getByRole('heading', { name: 'There is no role yet.' }).waitFor()
    await photographPage(page, 'roles-empty')
    await expectAccessible(t, page)
  })

  t.test('a role is declared with conditions, fields and presets, and opens what it says', async (t) => {
    const page = await openAsAdmin(t, 'roles/new')
    await page.getByLabel('Name', { exact: true }).fill('customer')
    await page.getByRole('combobox', { name: 'Tables' }).fill('orders')
    await page.keyboard.press('Enter')
    await page.getByRole('checkbox', { name: 'create', exact: true }).check()

    await page.getByText('Rows that match conditions').click()
    await page.getByLabel('Field', { exact: true }).selectOption('customer_id')
    await page.getByLabel('Compare with').selectOption('claim')
    await page.getByLabel('Name of the claim').fill('customer')
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    await page.getByLabel('Field', { exact: true }).nth(1).selectOption('state')
    await page.getByLabel('Operator').nth(1).selectOption('ne')
    await page.getByLabel('Value', { exact: true }).fill('archived')

    await page.getByLabel('All fields can be read').uncheck()
    await page.getByLabel('note can be read').uncheck()
    await page.getByLabel('All fields can be set').uncheck()
    await page.getByLabel('total can be set').uncheck()

    await page.getByRole('button', { name: 'Preset', exact: true }).click()
    await page.getByLabel('Field of preset 1').fill('customer_id')
    await page.getByLabel('Source of preset 1').selectOption('claim')
    await page.getByLabel('Value of preset 1').fill('customer')
    await page.getByText('where customer_id is the claim customer and state is not “archived”').waitFor()
    await page.getByRole('img', { name: 'Grant 1, some rows, some fields' }).first().waitFor()
    await photographPage(page, 'role-new')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Create the role' }).click()
    await page.getByText('The role “customer” is saved.').waitFor()
    await page.getByRole('link', { name: 'customer', exact: true }).waitFor()

    const { grants } = await roleNamed('customer')
    t.strictSame(grants, [
      {
        tables: ['orders'],
        actions: ['read', 'create'],
        rows: { all: [{ where: OWN }, { where: { state: { ne: 'archived' } } }] },
        fields: {
          read: ['customer_id', 'state', 'total', 'is_paid'],
          write: ['id', 'customer_id', 'state', 'note', 'is_paid']
        },
        presets: { customer_id: { $claim: 'customer' } }
      }
    ])
    const { token } = dataOf(
      await admin.post('/admin/tokens', { name: 'Ada', role: 'customer', claims: { customer: 17 } })
    )
    const list = dataOf(await app.inject({ url: '/data/orders', headers: bearer(token) }))
    t.strictSame(
      list.rows.map(({ id }: { id: number }) => id),
      [1]
    )
  })

  t.test('what is missing is shown at its place, and nothing is sent', async (t) => {
    const page = await openAsAdmin(t, 'roles/new')
    await page.getByLabel('Name', { exact: true }).fill('incomplete')
    await page.getByRole('checkbox', { name: 'read', exact: true }).uncheck()
    await page.getByText('JSON', { exact: true }).click()
    await page.getByLabel('Rule as JSON').fill('{"where": ')
    await page.getByRole('button', { name: 'Create the role' }).click()
    await page.getByText('Add a table.').waitFor()
    await page.getByText('Choose an action.').waitFor()
    await page.getByText(/^This is not JSON: /).waitFor()
    t.equal(
      await page.locator(':focus').getAttribute('placeholder'),
      'Choose or type a name',
      'the first wrong control'
    )
    await page.getByLabel('Rule as JSON').fill('{"were": {}}')
    await page.getByText('“were” is no part of a rule.').waitFor()
    await photographPage(page, 'role-incomplete')
    await expectAccessible(t, page)

    await page.getByRole('combobox', { name: 'Tables' }).fill('orders')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('checkbox', { name: 'create', exact: true }).check()
    await page.getByLabel('Rule as JSON').fill('{}')
    await page.getByText('Rows that match conditions').click()
    await page.getByText('Enter an integer').waitFor()
    await page.getByRole('button', { name: 'Remove the condition' }).click()
    await page.getByText('Add a condition to each group, or choose all rows.').waitFor()
    await page.getByText('All rows', { exact: true }).click()
    await page.getByRole('button', { name: 'Preset', exact: true }).click()
    await page.getByText('Enter the name of a field.').waitFor()
    await page.getByLabel('Field of preset 1').fill('total')
    await page.getByText('Enter a number, such as 12.5, or choose NULL.').waitFor()
    await page.getByRole('button', { name: 'Create the role' }).click()
    t.equal(await roleNamed('incomplete'), undefined)
  })

  t.test('what the service refuses is shown at the grant and at the name', async (t) => {
    await create('taken', [])
    const page = await openAsAdmin(t, 'roles/new')
    await page.getByLabel('Name', { exact: true }).fill('Taken')
    await page.getByRole('combobox', { name: 'Tables' }).fill('orders')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Grant', exact: true }).click()
    const second = page.getByRole('region', { name: 'Grant 2', exact: true })
    await second.getByRole('combobox', { name: 'Tables' }).fill('ORDERS')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Create the role' }).click()
    await second.getByText("Two grants name the action 'read' and the table 'orders'.").waitFor()
    t.equal(await page.getByRole('alert').count(), 0, 'the error stands only at its place')
    await photographPage(page, 'role-refused')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Remove grant 2' }).click()
    await page.getByRole('button', { name: 'Create the role' }).click()
    await page.getByText("There is a role 'Taken' already.").waitFor()
    t.equal(await page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid'), 'true')
    t.equal(await page.getByRole('alert').count(), 0)
    await page.getByLabel('Name', { exact: true }).fill('Free')
    await page.getByRole('button', { name: 'Create the role' }).click()
    await page.getByText('The role “Free” is saved.').waitFor()
  })

  t.test('a rule that conditions cannot show stays JSON, and is stored as it is', async (t) => {
    const rows = { via: { order_id: { where: OWN } } }
    const other = { tables: ['orders'], actions: ['read'], rows: { where: OWN, none: [{ where: { id: { eq: 5 } } }] } }
    const { id } = await create('deep', [{ tables: ['items'], actions: ['read'], rows }, other])
    const page = await openAsAdmin(t, `roles/${id}`)
    await page.getByText('where order_id refers to a record with (customer_id is the claim customer)').waitFor()
    await page.getByRole('button', { name: /^Grant 1/ }).click()
    await page.getByText('The conditions cannot show all of this rule').waitFor()
    t.equal(await page.getByLabel('Rows that match conditions').isDisabled(), true)
    t.strictSame(JSON.parse(await page.getByLabel('Rule as JSON').inputValue()), rows)
    await photographPage(page, 'role-json')
    await expectAccessible(t, page)
    await page.getByRole('checkbox', { name: 'delete', exact: true }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The role “deep” is saved.').waitFor()
    t.strictSame((await roleNamed('deep')).grants, [{ tables: ['items'], actions: ['read', 'delete'], rows }, other])
  })

  t.test('JSON and conditions are the same rule', async (t) => {
    const { id } = await create('simple', [{ tables: ['orders'], actions: ['read'], rows: { where: OWN } }])
    const page = await openAsAdmin(t, `roles/${id}`)
    t.equal(await page.getByLabel('Name of the claim').inputValue(), 'customer')
    await page.getByText('JSON', { exact: true }).click()
    t.strictSame(JSON.parse(await page.getByLabel('Rule as JSON').inputValue()), { where: OWN })
    await page.getByLabel('Rule as JSON').fill('{"where": {"state": {"in": ["open", "sent"]}}}')
    await page.getByText('Rows that match conditions').click()
    t.equal(await page.getByLabel('Value', { exact: true }).inputValue(), 'open, sent')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The role “simple” is saved.').waitFor()
    t.strictSame((await roleNamed('simple')).grants[0].rows, { where: { state: { in: ['open', 'sent'] } } })
  })

  t.test('the matrix shows which grant applies, and what is closed', async (t) => {
    const { id } = await create('matrix', [
      { tables: ['*'], actions: ['read', 'update'], rows: { where: { customer_id: { eq: 17 } } } },
      { tables: ['orders', 'later'], actions: ['read'] },
      { tables: ['order_states'], actions: ['read', 'delete'], fields: { read: ['state'] } }
    ])
    const page = await openAsAdmin(t, `roles/${id}`)
    const matrix = page.getByRole('table', { name: 'Grants by table and action' })
    const cells = async (name: string) => {
      const row = matrix.getByRole('row', { name: new RegExp(`^${name}`) })
      return Promise.all((await row.getByRole('img').all()).map((cell) => cell.getAttribute('aria-label')))
    }
    const none = 'not allowed'
    const closed = 'Grant 1 opens nothing: the table has no field customer_id.'
    await matrix.waitFor()
    t.strictSame(await cells('orders'), ['Grant 2', none, 'Grant 1, some rows', none, none])
    t.strictSame(await cells('items'), [closed, none, closed, none, none])
    t.strictSame(await cells('order_states'), ['Grant 3, some fields', none, none, none, none])
    t.strictSame(await cells('later'), ['Grant 2', none, 'Grant 1, some rows', none, none])
    t.strictSame(await cells('all other tables'), ['Grant 1, some rows', none, 'Grant 1, some rows', none, none])
    await page.getByText("There is no table 'later' now.").waitFor()
    await photographPage(page, 'role-matrix')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Remove grant 1' }).click()
    t.strictSame(await cells('items'), [none, none, none, none, none])
    t.strictSame(await cells('orders'), ['Grant 1', none, none, none, none])
  })

  t.test('names of tables are chosen, typed and removed', async (t) => {
    const page = await openAsAdmin(t, 'roles/new')
    const input = page.getByRole('combobox', { name: 'Tables' })
    const names = page.getByRole('region', { name: 'Grant 1', exact: true }).getByRole('listitem')
    await page.getByText('Add a registered table to choose conditions on its fields.').waitFor()
    t.equal(await page.getByLabel('Rows that match conditions').isDisabled(), true)
    for (const name of ['ORDERS', 'orders', 'order_states', '*']) {
      await input.fill(name)
      await page.keyboard.press('Enter')
    }
    await input.fill(' later ')
    await page.keyboard.press('Tab')
    t.strictSame(await names.allInnerTexts(), [
      'orders',
      'order_states\na view',
      '*\nall other tables',
      'later\nno such table now'
    ])
    t.equal(await page.getByLabel('Rows that match conditions').isDisabled(), false)
    await page.getByText('Read in orders, order_states, all other tables, and 1 more').waitFor()
    await page.getByLabel('All fields can be set').uncheck()
    await page.getByRole('combobox', { name: 'Further fields that can be set' }).fill('colour')
    await page.keyboard.press('Enter')
    await page.getByText('no such field now').waitFor()
    await photographPage(page, 'role-tables')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Remove order_states' }).click()
    t.equal(await page.locator(':focus').getAttribute('placeholder'), 'Choose or type a name', 'the focus is not lost')
    await page.getByLabel('Name', { exact: true }).fill('several')
    await page.getByRole('button', { name: 'Create the role' }).click()
    await page.getByText('The role “several” is saved.').waitFor()
    t.match((await roleNamed('several')).grants, [
      { tables: ['orders', '*', 'later'], actions: ['read'], fields: { write: ['colour'] } }
    ])
  })

  t.test('a grant is duplicated for other tables', async (t) => {
    const { id } = await create('twice', [{ tables: ['orders'], actions: ['read'], rows: { where: OWN } }])
    const page = await openAsAdmin(t, `roles/${id}`)
    await page.getByRole('button', { name: 'Duplicate grant 1 for other tables' }).click()
    const copy = page.getByRole('region', { name: 'Grant 2', exact: true })
    await copy.getByRole('combobox', { name: 'Tables' }).fill('customers')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save' }).click()
    await copy.getByText('There is no field customer_id.').waitFor()
    await copy.getByLabel('Field', { exact: true }).selectOption('id')
    await copy.getByLabel('Compare with').selectOption('claim')
    await copy.getByLabel('Name of the claim').fill('customer')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The role “twice” is saved.').waitFor()
    t.strictSame((await roleNamed('twice')).grants, [
      { tables: ['orders'], actions: ['read'], rows: { where: OWN } },
      { tables: ['customers'], actions: ['read'], rows: { where: { id: { eq: { $claim: 'customer' } } } } }
    ])
  })

  t.test('a wide screen shows the overview beside the grants', async (t) => {
    const role = await roleNamed('matrix')
    const page = await openAsAdmin(t, `roles/${role.id}`, { viewport: { width: 1600, height: 900 } })
    const overview = page.getByRole('region', { name: 'What the role opens' })
    await overview.waitFor()
    t.ok(((await overview.boundingBox())?.y ?? 900) < 200)
    await photographPage(page, 'role-wide')
  })

  t.test('a role that tokens have is not deleted, and the sentence says so', async (t) => {
    await create('used', [{ tables: ['*'], actions: ['read'] }])
    const { id } = dataOf(await admin.post('/admin/tokens', { name: 'user', role: 'used' }))
    const page = await openAsAdmin(t, 'roles')
    await page.getByRole('link', { name: 'used' }).waitFor()
    await photographPage(page, 'roles')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Delete used' }).click()
    await page.getByText('1 token has the role. Revoke it').waitFor()
    await page.getByRole('button', { name: 'Delete “used”' }).click()
    await page.getByText("Tokens have the role 'used'.").waitFor()
    await photographPage(page, 'role-in-use')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    dataOf(await admin.delete(`/admin/tokens/${id}`))
    await page.getByRole('link', { name: 'used' }).click()
    await page.getByRole('button', { name: 'Delete …' }).click()
    await page.getByRole('button', { name: 'Delete “used”' }).click()
    await page.getByText('The role “used” is deleted.').waitFor()
    t.match(page.url(), /\/roles$/)
    t.equal(await roleNamed('used'), undefined)
  })

  t.test('unsaved grants are not lost by a link', async (t) => {
    const page = await openAsAdmin(t, 'roles/new')
    await page.getByRole('button', { name: 'Grant', exact: true }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Roles' }).click()
    await page.getByRole('dialog', { name: 'Discard the unsaved changes?' }).waitFor()
    await page.getByRole('button', { name: 'Stay here' }).click()
    await page.getByRole('region', { name: 'Grant 2', exact: true }).waitFor()
  })

  t.test('the path of a role that does not exist leads back to the list', async (t) => {
    const page = await openAsAdmin(t, 'roles/999')
    await page.getByRole('heading', { name: 'There is no such role.' }).waitFor()
    await page.getByRole('link', { name: 'All roles' }).waitFor()
  })
}

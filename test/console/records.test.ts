import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase, dataOf, PASSWORD } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'

const SQL = `
  CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  INSERT INTO makers VALUES (1, 'Pelikan'), (2, 'Lamy'), (3, 'Kaweco');
  CREATE TABLE words (word TEXT PRIMARY KEY, note TEXT);
  INSERT INTO words VALUES ('new', 'not old');
  CREATE TABLE goods (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    note TEXT,
    amount INTEGER,
    price REAL,
    active BOOLEAN,
    day DATETIME,
    status TEXT NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'sold')),
    file BLOB,
    secret TEXT,
    origin TEXT,
    maker_id INTEGER REFERENCES makers (id)
  );
  INSERT INTO goods (id, name, note, amount, day, secret, origin, maker_id) VALUES
    (1, 'Pen', 'https://example.com/pen', 9007199254740993, '2026-11-21 08:30:00', 'hush', 'DE', 1),
    (2, 'Ink', '', 2, '2026-11-21', NULL, NULL, 2),
    (3, '<b>Pad</b>', NULL, 3, NULL, NULL, NULL, NULL);`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  dataOf(await admin.post('/admin/tables/import', { name: 'makers' }))
  const fields = [
    { name: 'secret', isHidden: true },
    { name: 'origin', isReadonly: true }
  ]
  dataOf(await admin.post('/admin/tables/import', { name: 'goods', fields }))
  dataOf(
    await admin.post('/admin/tables', {
      name: 'drafts',
      label: 'drafts',
      fields: [
        { name: 'details', jsonType: 'object' },
        { name: 'tags', jsonType: 'array' }
      ]
    })
  )
  const words = dataOf(await admin.post('/admin/tables/import', { name: 'words' })).id
  const MAKERS = 'tables/1'
  const GOODS = 'tables/2'

  const read = async (pk: number | string) => dataOf(await admin.get(`/admin/tables/2/data/${pk}`))
  const count = async () => dataOf(await admin.get('/admin/tables/2/data?size=1')).total
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()
  const written = (page: Page) => page.waitForResponse((response) => response.request().method() === 'PUT')
  const notice = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()
  const toggle = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  t.test('a record is created with values of every kind', async (t) => {
    const page = await openAsAdmin(t, GOODS)
    await page.getByRole('button', { name: 'New record' }).click()
    await field(page, 'name').fill('Nib')
    await field(page, 'note').fill('first line\nsecond line')
    await field(page, 'amount').fill('9223372036854775807')
    await field(page, 'price').fill('12.50')
    await field(page, 'active').selectOption('true')
    await field(page, 'day').fill('1767225600000')
    await page.getByText('As milliseconds since 1970: 2026-01-01 00:00:00.000Z').waitFor()
    await field(page, 'status').selectOption('sold')
    await page.locator('input[type=file]').setInputFiles({
      name: 'a.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from([0, 255, 7])
    })
    await page.getByText('3 B', { exact: true }).waitFor()
    await field(page, 'maker_id').click()
    await page.getByRole('combobox', { name: 'Search makers' }).fill('lam')
    await page.getByRole('option', { name: /Lamy/ }).click()
    await photographPage(page, 'record-new')
    await page.getByRole('button', { name: 'Create' }).click()
    await notice(page, 'Created goods 4')
    t.match(await read(4), {
      name: 'Nib',
      note: 'first line\nsecond line',
      amount: '9223372036854775807',
      price: 12.5,
      active: true,
      day: 1767225600000,
      status: 'sold',
      file: 'AP8H',
      secret: null,
      maker_id: 2
    })
    await page.getByRole('dialog', { name: 'goods 4', exact: true }).waitFor()
  })

  t.test('JSON is checked while it is typed', async (t) => {
    const page = await openAsAdmin(t, 'tables/3?new=true')
    await field(page, 'details').fill('{"size": [1, 2}')
    await page.getByText(/This is not JSON/).waitFor()
    await field(page, 'details').fill('[1]')
    await page.getByText('Enter a JSON object: { … }.').waitFor()
    await field(page, 'details').fill('{"size": [1, 2]}')
    await field(page, 'tags').fill('{}')
    await page.getByText('Enter a JSON array: [ … ].').waitFor()
    await field(page, 'tags').fill('["a"]')
    await page.getByRole('button', { name: 'Create' }).click()
    await notice(page, 'Created drafts 1')
    t.match(dataOf(await admin.get('/admin/tables/3/data/1')), { details: { size: [1, 2] }, tags: ['a'] })
    t.equal(await field(page, 'tags').inputValue(), '[\n  "a"\n]')
  })

  t.test('the default is used unless a value is chosen', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?new=true`)
    await field(page, 'name').fill('Cap')
    await page.keyboard.press('Control+s')
    await notice(page, 'Created goods 5')
    t.match(await read(5), { status: 'new', note: null })
  })

  t.test('a record is shown with its marks, and its key and its read-only fields cannot be edited', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=1`)
    const panel = page.getByRole('dialog', { name: 'goods 1', exact: true })
    await panel.getByText('Hidden from tokens').waitFor()
    await panel.getByText('Read-only').waitFor()
    t.equal(await field(page, 'amount').inputValue(), '9007199254740993')
    t.equal(await field(page, 'id').count(), 0)
    t.equal(await field(page, 'origin').count(), 0)
    await panel.getByText('Pelikan').waitFor()
    await photographPage(page, 'record')
  })

  t.test('an integer of 64 bits is not rounded when another field is saved', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=1`)
    await field(page, 'note').fill('changed')
    await save(page)
    await notice(page, 'Saved goods 1')
    t.match(await read(1), { note: 'changed', amount: '9007199254740993' })
    await field(page, 'amount').fill('9007199254740995')
    await Promise.all([written(page), page.keyboard.press('Control+s')])
    t.match(await read(1), { amount: '9007199254740995' })
  })

  t.test('NULL and empty text are different values', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=3`)
    t.equal(await field(page, 'note').getAttribute('placeholder'), 'NULL')
    await toggle(page, 'NULL for note')
    t.equal(await field(page, 'note').getAttribute('placeholder'), 'empty text')
    await save(page)
    await notice(page, 'Saved goods 3')
    t.match(await read(3), { note: '', name: '<b>Pad</b>' })
    await toggle(page, 'NULL for note')
    await Promise.all([written(page), save(page)])
    t.match(await read(3), { note: null })
  })

  t.test('wrong values stand at their field, and are not saved', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=2`)
    await field(page, 'amount').fill('9223372036854775808')
    await page.getByText(/outside 64 bits/).waitFor()
    await field(page, 'price').fill('1,5')
    await page.getByText('Enter a number, such as 12.5, or choose NULL.').waitFor()
    await page.getByText('2 values are wrong.').waitFor()
    await photographPage(page, 'record-wrong')
    await save(page)
    t.match(await read(2), { amount: 2, price: null })
    await field(page, 'amount').fill('-3')
    await field(page, 'price').fill('1e3')
    await save(page)
    await notice(page, 'Saved goods 2')
    t.match(await read(2), { amount: -3, price: 1000 })
  })

  t.test('what the service refuses stands at its field', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=2`)
    await field(page, 'name').fill('Pen')
    await save(page)
    const error = page.getByRole('alert')
    await error.waitFor()
    t.match(await error.textContent(), /name/)
    t.equal(await field(page, 'name').getAttribute('aria-invalid'), 'true')
    t.match(await read(2), { name: 'Ink' })
  })

  t.test('number and date inputs keep what is typed', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=1`)
    for (const text of ['1.', '1.50', '007', '1e']) {
      await field(page, 'price').fill(text)
      t.equal(await field(page, 'price').inputValue(), text)
    }
    await toggle(page, 'NULL for price')
    await field(page, 'Date of day').fill('2027-01-02T03:04:05')
    t.equal(await field(page, 'day').inputValue(), '2027-01-02 03:04:05')
    await field(page, 'day').fill('2027-01-02T03:04Z')
    t.equal(await field(page, 'day').inputValue(), '2027-01-02T03:04Z')
    await save(page)
    await notice(page, 'Saved goods 1')
    t.match(await read(1), { price: null, day: '2027-01-02T03:04Z' })
  })

  t.test('a record is duplicated without its key', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=2`)
    await toggle(page, 'Duplicate')
    await page.getByRole('dialog', { name: 'New record in goods', exact: true }).waitFor()
    await field(page, 'name').fill('Ink, copied')
    await page.getByRole('button', { name: 'Create' }).click()
    await notice(page, 'Created goods 6')
    t.match(await read(6), { name: 'Ink, copied', amount: -3, maker_id: 2 })
  })

  t.test('a deleted record comes back with its key and its read-only fields', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=1`)
    const before = await read(1)
    await toggle(page, 'Delete goods 1')
    await page.getByRole('dialog', { name: 'Delete goods 1?', exact: true }).waitFor()
    await photographPage(page, 'record-delete')
    await page
      .getByRole('dialog', { name: 'Delete goods 1?', exact: true })
      .getByRole('button', { name: 'Delete goods 1' })
      .click()
    await notice(page, 'Deleted goods 1')
    t.equal((await admin.get('/admin/tables/2/data/1')).statusCode, 404)
    await toggle(page, 'Undo')
    await notice(page, 'goods 1 is back')
    t.strictSame(await read(1), before)
  })

  t.test('of two browsers, the second one sees both versions and chooses', async (t) => {
    const first = await openAsAdmin(t, `${GOODS}?record=2`)
    const second = await openAsAdmin(t, `${GOODS}?record=2`)
    await field(first, 'note').fill('theirs')
    await field(second, 'note').fill('mine')
    await save(first)
    await notice(first, 'Saved goods 2')
    await save(second)
    const conflict = second.getByRole('dialog', { name: 'goods 2 has changed since you opened it', exact: true })
    await conflict.getByRole('row', { name: 'note mine theirs' }).waitFor()
    await photographPage(second, 'record-conflict')
    await conflict.getByRole('button', { name: 'Keep mine' }).click()
    await notice(second, 'Saved goods 2')
    t.match(await read(2), { note: 'mine' })

    await field(first, 'note').fill('again')
    await save(first)
    await first.getByRole('button', { name: 'Take theirs' }).click()
    t.equal(await field(first, 'note').inputValue(), 'mine')
    t.match(await read(2), { note: 'mine' })
  })

  t.test('a session that ends during an edit loses nothing', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=2`)
    await field(page, 'note').fill('not lost')
    await page.context().clearCookies()
    await save(page)
    const login = page.getByRole('dialog', { name: 'Your session has ended', exact: true })
    await login.waitFor()
    await photographPage(page, 'record-session')
    // The password has the focus.
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await notice(page, 'Saved goods 2')
    t.match(await read(2), { note: 'not lost' })
  })

  t.test('Ctrl+S saves the top panel only', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=2`)
    await field(page, 'note').fill('below')
    await toggle(page, 'Open 2 of makers')
    const top = page.getByRole('dialog', { name: 'makers 2', exact: true })
    await top.getByLabel('name', { exact: true }).fill('Lamy GmbH')
    await photographPage(page, 'record-stacked')
    await page.keyboard.press('Control+s')
    await notice(page, 'Saved makers 2')
    t.match(dataOf(await admin.get('/admin/tables/1/data/2')), { name: 'Lamy GmbH' })
    t.match(await read(2), { note: 'not lost' })
    await page.keyboard.press('Escape')
    await top.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+s')
    await notice(page, 'Saved goods 2')
    t.match(await read(2), { note: 'below' })
  })

  t.test('unsaved changes are lost only if the user says so', async (t) => {
    const page = await openAsAdmin(t, GOODS)
    const before = await count()
    await page.getByRole('button', { name: 'New record' }).click()
    await field(page, 'note').fill('unsaved')
    const question = page.getByRole('dialog', { name: 'Discard the unsaved changes?', exact: true })
    const stay = async () => {
      await question.getByRole('button', { name: 'Stay here' }).click()
      await question.waitFor({ state: 'detached' })
      t.equal(await field(page, 'note').inputValue(), 'unsaved')
    }
    await page.keyboard.press('Escape')
    await stay()
    await page.getByRole('link', { name: 'makers', exact: true }).first().click()
    await stay()
    await page.goBack()
    await stay()
    let isAsked = false
    page.once('dialog', async (dialog) => {
      isAsked = dialog.type() === 'beforeunload'
      await dialog.dismiss()
    })
    await page.reload({ timeout: 2000 }).catch(() => {})
    t.ok(isAsked, 'the browser asks, too')
    await page.getByRole('link', { name: 'makers', exact: true }).first().click()
    await question.getByRole('button', { name: 'Discard' }).click()
    await page.waitForURL(/tables\/1$/)
    t.equal(await count(), before)
  })

  t.test('a record links to the records that refer to it', async (t) => {
    const page = await openAsAdmin(t, `${MAKERS}?record=2`)
    const link = page.getByRole('link', { name: 'goods, by maker_id' })
    t.match(
      decodeURIComponent(String(await link.getAttribute('href'))),
      /tables\/2\?filter={"where":{"maker_id":{"eq":2}}}/
    )
  })

  t.test('a record whose key is "new" is not a new record', async (t) => {
    const page = await openAsAdmin(t, `tables/${words}`)
    await page.getByRole('button', { name: 'Open record of row 1 (Ctrl+Enter)' }).click()
    await page.getByRole('dialog', { name: 'words new', exact: true }).waitFor()
    t.equal(await field(page, 'note').inputValue(), 'not old')
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('button', { name: 'New record' }).click()
    await page.getByRole('dialog', { name: 'New record in words', exact: true }).waitFor()
    await page.reload()
    await page.getByRole('dialog', { name: 'New record in words', exact: true }).waitFor()
  })

  t.test('the panel fills a narrow screen', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=1`, { viewport: { width: 390, height: 800 } })
    const panel = page.getByRole('dialog', { name: 'goods 1', exact: true })
    await field(page, 'note').waitFor()
    t.equal((await panel.boundingBox())?.width, 390)
  })

  t.test('a record that does not exist', async (t) => {
    const page = await openAsAdmin(t, `${GOODS}?record=77`)
    t.match(await page.getByRole('dialog', { name: 'goods 77', exact: true }).getByRole('alert').textContent(), /77/)
  })
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Page } from 'playwright-core'
import t from 'tap'
import type { Field, Table } from '../../schemas/table.ts'
import { createDatabase } from '../fixtures.ts'
import { asToken, createTable, dataOf } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'

/** Chinook, a music shop, with 11 tables. */
const CHINOOK = join(process.cwd(), '../shared/data/chinook.sqlite')

/** Markup, a right-to-left override and quotes. */
const HOSTILE = `<img src=x onerror=alert(1)> \u202Ertl "a' `
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** A small database with a view, a table that cannot be imported, and hostile names. */
const SHOP = `
  CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT NOT NULL, secret TEXT);
  INSERT INTO artists VALUES (1, 'Ann', 's1'), (2, 'Bob', 's2');
  CREATE VIEW names AS SELECT id, name FROM artists;
  CREATE VIRTUAL TABLE texts USING fts5 (body);
  CREATE TABLE ${quoted(HOSTILE)} (id INTEGER PRIMARY KEY, ${quoted(HOSTILE)} TEXT DEFAULT '<b>');`

const openTable = async (page: Page, name: string) => {
  // The name of the link also has the flags of the table.
  await page
    .getByRole('navigation')
    .getByRole('link', { name: new RegExp(`^${name}\\b`) })
    .first()
    .click()
  await page.getByRole('link', { name: 'Structure' }).click()
  await page.getByRole('heading', { name: 'Fields' }).waitFor()
}

const saveDialog = async (page: Page, name = 'Save') => {
  // A notice is a dialog, too.
  const button = page.getByRole('dialog').getByRole('button', { name, exact: true })
  await button.click()
  await button.waitFor({ state: 'detached' })
}

const testWithSmallFile = async () => {
  const { app, admin, file, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SHOP) })
  const tables = async () => dataOf(await admin.get('/admin/tables')) as Table[]
  const tableOf = async (name: string) => (await tables()).find((table) => table.name === name)
  const fieldOf = async (table: string, name: string): Promise<Field | undefined> =>
    (await tableOf(table))?.fields.find((field) => field.name === name)

  await t.test('chosen tables are imported, with fields hidden from the first moment', async (t) => {
    const page = await openAsAdmin(t, 'tables/import')
    t.equal(await page.getByLabel('Choose texts').isDisabled(), true)
    await page.getByText("'texts' is a virtual table").waitFor()
    await page.getByRole('button', { name: 'Fields of artists' }).click()
    t.equal(await page.getByLabel('Hide id from tokens').isDisabled(), true, 'the key cannot be hidden')
    await page.getByLabel('Hide secret from tokens').check()
    await page.getByLabel('Label of name').fill('Stage name')
    await page.getByRole('button', { name: 'Fields of names' }).click()
    await page.getByLabel('name is part of the key').check()
    await photographPage(page, 'tables-import')
    await page.getByLabel('Filter', { exact: true }).fill('nothing')
    t.equal(await page.getByLabel('Choose artists').count(), 0)
    await page.getByLabel('Filter', { exact: true }).fill('')
    await page.getByLabel('Choose all tables').check()
    await page.getByRole('button', { name: 'Import 3 tables' }).click()
    await page.getByText('Imported 3 tables.').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Open artists' }).waitFor()
    t.match(await fieldOf('artists', 'secret'), { isHidden: true })
    t.match(await fieldOf('artists', 'name'), { isHidden: false, label: 'Stage name' })
    t.match(await tableOf('names'), { primaryKey: 'name', kind: 'view' })
    const token = await asToken(app, admin)
    t.notMatch(dataOf(await token.get('/data/artists/records/1')), { secret: 's1' })
  })

  await t.test('a failed import stands beside its table, and the others are imported', async (t) => {
    for (const name of ['artists', 'names']) {
      const table = await tableOf(name)
      await admin.delete(`/admin/tables/${table?.id}?confirm=true`)
    }
    const page = await openAsAdmin(t, 'tables/import')
    await page.getByLabel('Choose artists').check()
    await page.getByLabel('Choose names').check()
    await admin.post('/admin/tables/import', { name: 'artists' })
    await page.getByRole('button', { name: 'Import 2 tables' }).click()
    await page.getByText('Imported 1 table. 1 table failed: see the list.').waitFor()
    await page
      .getByRole('row', { name: /artists/ })
      .getByText(/already registered/)
      .waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Open names' }).click()
    await page.getByRole('heading', { name: 'names' }).waitFor()
  })

  await t.test('a table is created with fields of every kind, and wrong names are refused while typing', async (t) => {
    const page = await openAsAdmin(t, 'tables/new')
    await page.getByLabel('Name', { exact: true }).fill('1st')
    await page.getByText(/Start with a letter/).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('albums')
    const names = ['title', 'artist', 'price', 'in_print', 'extra', 'tags', 'cover']
    const types = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'bytes']
    for (const [index, name] of names.entries()) {
      if (index > 0) await page.getByRole('button', { name: 'Add a field' }).click()
      await page.getByLabel(`Name of field ${index + 2}`).fill(name)
      await page.getByLabel(`Type of field ${index + 2}`).selectOption(types[index] as string)
    }
    await page.getByLabel('Name of field 3').fill('TITLE')
    await page.getByText('Another field is named').first().waitFor()
    await page.getByLabel('Name of field 3').fill('artist')
    await page.getByLabel('Default of field 4').fill('cheap')
    await page.getByText('Enter a number, such as 12.5.').waitFor()
    await page.getByLabel('Default of field 4').fill('9.5')
    await page.getByLabel('Default of field 5').selectOption('true')
    await page.getByLabel('Default of field 6').fill('{"a": 1}')
    await page.getByRole('button', { name: 'More about artist' }).click()
    await page.getByLabel('Refers to').selectOption('artists')
    await page.getByLabel('If the record there is deleted').selectOption('cascade')
    await page.getByRole('button', { name: 'More about artist' }).click()
    await page.getByRole('button', { name: 'More about title' }).click()
    await page.getByLabel('Maximum length').fill('40')
    await page.getByRole('checkbox', { name: 'Unique' }).nth(1).check()
    await page.getByText('"title" TEXT CHECK (length("title") <= 40),').waitFor()
    await page.getByText('CREATE UNIQUE INDEX "_rowhouse_albums_title_…"').waitFor()
    await page.getByRole('button', { name: 'Move price up' }).click()
    await photographPage(page, 'tables-new')
    await page.getByRole('button', { name: 'Create albums' }).click()
    await page.getByRole('heading', { name: 'albums', level: 1 }).waitFor()
    const table = await tableOf('albums')
    const created = table?.fields.map(({ name }) => name)
    t.strictSame(created, ['id', 'title', 'price', 'artist', 'in_print', 'extra', 'tags', 'cover'])
    t.match(await fieldOf('albums', 'artist'), { references: { table: 'artists', field: 'id' } })
    t.match(await fieldOf('albums', 'title'), { isUnique: true, maxLength: 40 })
    t.match(await fieldOf('albums', 'cover'), { sqliteType: 'BLOB' })
    t.match(await fieldOf('albums', 'extra'), { defaultValue: { a: 1 } })
  })

  await t.test('what the service refuses stands at its field', async (t) => {
    const page = await openAsAdmin(t, 'tables/new')
    await page.getByLabel('Name', { exact: true }).fill('refused')
    await page.getByRole('button', { name: 'Create refused' }).click()
    await page.getByText('Enter a name.').waitFor()
    await page.getByLabel('Name of field 2').fill('flag')
    await page.getByLabel('Type of field 2').selectOption('boolean')
    await page.getByRole('checkbox', { name: 'Key' }).nth(1).check()
    await page.getByRole('button', { name: 'Create refused' }).click()
    await page.getByText("'flag' cannot be the key").waitFor()
    t.equal(await page.getByText("'flag' cannot be the key").count(), 1, 'the reason stands once')
    t.equal(await tableOf('refused'), undefined)
  })

  await t.test('a pasted file becomes a table after a preview', async (t) => {
    const page = await openAsAdmin(t, 'tables/from-file')
    await page.getByLabel('Or paste the rows').fill('sku;title;price\npen;<b>Blue</b>;1.5\npot;;2\n')
    t.equal(await page.getByLabel('Cells are separated by').inputValue(), ';', 'the delimiter is guessed')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('Enter a name.').waitFor()
    await page.getByLabel('Name of the table').fill('goods')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('2 records, 3 fields').waitFor()
    await page.getByRole('cell', { name: '<b>Blue</b>' }).waitFor()
    await photographPage(page, 'tables-file')
    t.equal(await tableOf('goods'), undefined, 'a preview creates nothing')
    await page.getByRole('button', { name: 'Create goods with 2 records' }).click()
    await page.getByRole('heading', { name: 'goods' }).waitFor()
    const { id } = (await tableOf('goods')) as Table
    t.equal(dataOf(await admin.get(`/admin/tables/${id}/data`)).total, 2)
  })

  await t.test('a JSON array becomes a table, with the digits of its integers', async (t) => {
    const page = await openAsAdmin(t, 'tables/from-file')
    const json = '[\n  {"id": 1, "n": 9007199254740993, "note": "a,]\\n\\"b"},\n  {"id": 2, "n": null}\n]\n'
    const input = page.locator('input[type=file]')
    await input.setInputFiles({
      name: 'wrong.json',
      mimeType: 'application/json',
      buffer: Buffer.from('[{"id": 1}, 2]')
    })
    await page.getByRole('alert').getByRole('row', { name: '2 The record must be a JSON object.' }).waitFor()
    await input.setInputFiles({ name: 'large.json', mimeType: 'application/json', buffer: Buffer.from(json) })
    await page.getByText('2 records, 3 fields').waitFor()
    t.equal(await page.getByLabel('Name of the table').inputValue(), 'large', 'the name follows the file')
    await page.getByRole('button', { name: 'Create large with 2 records' }).click()
    await page.getByRole('heading', { name: 'large' }).waitFor()
    const { id } = (await tableOf('large')) as Table
    const { rows } = dataOf(await admin.get(`/admin/tables/${id}/data`))
    t.match(rows, [{ n: '9007199254740993', note: 'a,]\n"b' }, { n: null }])
  })

  await t.test('the wrong lines of a chosen file are listed', async (t) => {
    const page = await openAsAdmin(t, 'tables/from-file')
    const buffer = Buffer.from('id,n\n1,2\n1,3\n')
    await page.locator('input[type=file]').setInputFiles({ name: 'two ids.csv', mimeType: 'text/csv', buffer })
    await page.getByRole('alert').getByRole('row', { name: /^3 id/ }).waitFor()
    t.equal(await page.getByLabel('Name of the table').inputValue(), 'two_ids')
    await photographPage(page, 'tables-file-errors')
    t.equal(await tableOf('two_ids'), undefined)
  })

  await t.test('fields are added, changed and dropped', async (t) => {
    const page = await openAsAdmin(t)
    await openTable(page, 'albums')
    t.match(await page.getByRole('link', { name: 'artists.id' }).getAttribute('href'), /\/tables\/\d+\/structure$/)
    await photographPage(page, 'tables-structure')

    await page.getByRole('button', { name: 'Add a field' }).click()
    await page.getByLabel('Name of field 1').fill('title')
    await page.getByText('Another field is named title').waitFor()
    await page.getByLabel('Name of field 1').fill('stock')
    await page.getByLabel('Type of field 1').selectOption('integer')
    await saveDialog(page, 'Add stock')
    await page.getByRole('button', { name: 'Edit stock' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('in_stock')
    await dialog.getByLabel('Label').fill('In stock')
    await dialog.getByLabel('Default').fill('3')
    await dialog.getByLabel('Hidden from tokens').check()
    await photographPage(page, 'tables-edit-field')
    await saveDialog(page)
    await page.getByRole('cell', { name: 'In stock' }).waitFor()
    t.match(await fieldOf('albums', 'in_stock'), { label: 'In stock', defaultValue: 3, isHidden: true })

    await page.getByRole('button', { name: 'Drop in_stock' }).click()
    await page.getByText('The column in_stock and its values in 0 records are deleted').waitFor()
    await saveDialog(page, 'Drop in_stock')
    await page.getByRole('cell', { name: 'In stock' }).waitFor({ state: 'detached' })
    t.equal(await fieldOf('albums', 'in_stock'), undefined)
  })

  await t.test('a boolean default is chosen, and a name that is wrong is not sent', async (t) => {
    const page = await openAsAdmin(t)
    await openTable(page, 'albums')
    await page.getByRole('button', { name: 'Edit in_print' }).click()
    const dialog = page.getByRole('dialog')
    t.equal(await dialog.getByLabel('Default').inputValue(), 'true')
    await dialog.getByLabel('Default').selectOption('false')
    await dialog.getByLabel('Name', { exact: true }).fill('1st')
    await dialog.getByText(/Start with a letter/).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(/Start with a letter/).waitFor()
    t.match(await fieldOf('albums', 'in_print'), { defaultValue: true })
    await dialog.getByLabel('Name', { exact: true }).fill('in_print')
    await saveDialog(page)
    t.match(await fieldOf('albums', 'in_print'), { defaultValue: false })

    await page.getByRole('button', { name: 'Edit price' }).click()
    await dialog.getByLabel('Type').selectOption('boolean')
    await dialog.getByText('Choose true or false.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
  })

  await t.test('the records follow a new name of a field', async (t) => {
    const page = await openAsAdmin(t)
    const { id } = (await tableOf('artists')) as Table
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^artists/ })
      .click()
    await page.getByRole('gridcell', { name: 's1' }).waitFor()
    await page.getByRole('link', { name: 'Structure' }).click()
    await page.getByRole('button', { name: 'Edit secret' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('remark')
    await saveDialog(page)
    t.ok(await fieldOf('artists', 'remark'))
    await page.getByRole('link', { name: 'Records' }).click()
    await page.getByRole('gridcell', { name: 's1' }).waitFor()
    await admin.put(`/admin/tables/${id}/fields/remark`, { name: 'secret' })
  })

  await t.test('a field that a view needs is not dropped, and the dialog says why', async (t) => {
    const page = await openAsAdmin(t)
    await openTable(page, 'artists')
    await page.getByRole('button', { name: 'Drop name' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Drop name' }).click()
    t.match(await page.getByRole('dialog').getByRole('alert').textContent(), /names/)
    await page.getByRole('button', { name: 'Cancel' }).click()
    t.ok(await fieldOf('artists', 'name'))
  })

  await t.test('indexes and the search index are created and dropped', async (t) => {
    const page = await openAsAdmin(t)
    await openTable(page, 'goods')
    await page.getByRole('button', { name: 'Create an index' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Field 1').selectOption('title')
    await dialog.getByLabel('Field 2').selectOption('price')
    await saveDialog(page, 'Create an index')
    await page.getByRole('button', { name: 'Drop the index of title, price' }).click()
    await saveDialog(page, 'Drop the index')
    await page.getByText('An index makes sorts and filters').waitFor()
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('On. Searches use the index.').waitFor()
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('Off. A search reads all records.').waitFor()
  })

  await t.test('settings are saved, and tokens follow a new name if that is chosen', async (t) => {
    const permissions = { tables: ['goods'], actions: ['read'] }
    await admin.post('/admin/tokens', { name: 'Web <i>shop</i>', permissions })
    await admin.post('/admin/roles', { name: 'buyer', grants: [{ tables: ['Goods'], actions: ['read'] }] })
    const page = await openAsAdmin(t)
    await openTable(page, 'goods')
    await page.getByLabel('Label', { exact: true }).fill('Our goods')
    await page.getByRole('checkbox', { name: 'Published' }).check()
    await page.getByRole('checkbox', { name: 'Tokens can write' }).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings of Our goods are saved.').waitFor()
    t.match(await tableOf('goods'), { label: 'Our goods', isPublished: true, isEditable: false })

    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'New name' }).fill('albums')
    await page.getByRole('dialog').getByText('Web <i>shop</i>').waitFor()
    await page.getByRole('dialog').getByText('Roles that name it get the new name: buyer.').waitFor()
    await page.getByRole('button', { name: 'Rename to albums' }).click()
    await page
      .getByRole('dialog')
      .getByText(/albums.*exists|already/)
      .waitFor()
    await page.getByRole('textbox', { name: 'New name' }).fill('wares')
    await saveDialog(page, 'Rename to wares')
    t.equal(await tableOf('goods'), undefined)
    const tokens = dataOf(await admin.get('/admin/tokens')) as { name: string; permissions: { tables: string[] } }[]
    t.strictSame(tokens.find(({ name }) => name === 'Web <i>shop</i>')?.permissions.tables, ['wares'])
    t.match(dataOf(await admin.get('/admin/roles')), [{ name: 'buyer', grants: [{ tables: ['wares'] }] }])
  })

  await t.test('a refresh says what another program has changed', async (t) => {
    const page = await openAsAdmin(t)
    await openTable(page, 'artists')
    const other = new BetterSqlite3(file)
    other.exec('ALTER TABLE artists ADD COLUMN born INTEGER')
    other.close()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('New field: born').waitFor()
    await page.getByRole('button', { name: 'Edit born' }).waitFor()
  })

  await t.test('a refresh says what was before, and what is now', async (t) => {
    const table = await createTable(admin, {
      name: 'songs',
      fields: [
        { name: 'price', jsonType: 'integer', check: { minimum: 1, enum: [1, 2] }, defaultValue: 1 },
        { name: 'artist', jsonType: 'integer' },
        { name: 'title', jsonType: 'string' }
      ]
    })
    t.equal(table.name, 'songs')
    const page = await openAsAdmin(t)
    await openTable(page, 'songs')
    const other = new BetterSqlite3(file)
    other.exec(`DROP TABLE songs; CREATE TABLE songs (
      id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, price REAL DEFAULT 2 CHECK (price >= 2),
      artist INTEGER REFERENCES artists (id)) STRICT`)
    other.close()
    await page.getByRole('button', { name: 'Refresh' }).click()
    const notice = page.getByText(/Changed: price: /)
    await notice.waitFor()
    const text = await notice.textContent()
    t.match(text, 'type integer (INTEGER) → number (REAL)')
    t.match(text, 'default 1 → 2')
    t.match(text, 'minimum 1 → 2')
    t.match(text, 'allowed values [1,2] → none')
    t.match(text, 'New foreign key: artist → artists (id).')
    t.match(text, 'The columns are now in this order: id, title, price, artist.')
  })

  await t.test('hostile names are shown as text', async (t) => {
    const page = await openAsAdmin(t)
    const name = HOSTILE.trim()
    await page.getByRole('navigation').getByRole('link', { name }).click()
    await page.getByRole('link', { name: 'Structure' }).click()
    await page.getByRole('button', { name: `Edit ${name}` }).waitFor()
    await page.getByText('"<b>"').waitFor()
    t.equal(await page.locator('img').count(), 0)
    await photographPage(page, 'tables-hostile')
    await page.getByRole('button', { name: `Unregister ${name}` }).click()
    await page.getByRole('dialog').getByText('It stays in the database').waitFor()
    await saveDialog(page, `Unregister ${name}`)
    await page.goto(new URL('tables/import', page.url()).href)
    await page.getByLabel(`Choose ${name}`).waitFor()
    t.equal(await page.locator('img').count(), 0)
  })

  await t.test('a table is dropped only after its name is typed', async (t) => {
    const page = await openAsAdmin(t)
    await openTable(page, 'albums')
    await page.getByRole('button', { name: 'Drop albums' }).click()
    const dialog = page.getByRole('dialog')
    const drop = dialog.getByRole('button', { name: 'Drop albums' })
    await dialog.getByText('The table and 0 records are deleted').waitFor()
    await dialog.getByLabel('Enter albums to confirm').fill('album')
    t.equal(await drop.isDisabled(), true)
    await photographPage(page, 'tables-drop')
    await dialog.getByLabel('Enter albums to confirm').fill('albums')
    await drop.click()
    await page.getByText('albums and its data are deleted.').waitFor()
    t.equal(await tableOf('albums'), undefined)
  })

  await t.test('at 390 pixels no page is wider than the screen', async (t) => {
    const page = await openAsAdmin(t, 'tables/new', { viewport: { width: 390, height: 844 } })
    const structure = `tables/${(await tableOf('artists'))?.id}/structure`
    for (const path of ['tables/new', 'tables/import', 'tables/from-file', structure]) {
      await page.goto(new URL(`/console/${path}`, page.url()).href)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, path)
      await photographPage(page, `${path.replaceAll('/', '-')}-390`)
    }
  })
}

const isAbsent = existsSync(CHINOOK) ? false : `Chinook is not at ${CHINOOK}.`

const testWithChinook = () =>
  t.test('Chinook is imported by clicks', { skip: isAbsent }, async (t) => {
    const { admin, openAsAdmin } = await startConsole(t, { database: CHINOOK })
    const page = await openAsAdmin(t, 'tables/import')
    await page.getByRole('button', { name: 'Fields of Customer' }).click()
    await page.getByLabel('Hide Phone from tokens').check()
    await page.getByLabel('Choose all tables').check()
    await page.getByRole('button', { name: 'Import 11 tables' }).click()
    await page.getByText('Imported 11 tables.').waitFor()
    const tables = dataOf(await admin.get('/admin/tables')) as Table[]
    t.equal(tables.length, 11)
    t.match(
      tables.flatMap(({ fields }) => fields).filter(({ isHidden }) => isHidden),
      [{ name: 'Phone' }]
    )
    await openTable(page, 'Track')
    await page.getByRole('link', { name: 'Album.AlbumId' }).click()
    await page.getByRole('heading', { name: 'Album' }).waitFor()
  })

if (skip) t.pass(`Skipped: ${skip}`, { skip })
else {
  await testWithSmallFile()
  await testWithChinook()
}

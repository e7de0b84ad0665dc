import { readFile } from 'node:fs/promises'
import BetterSqlite3 from 'better-sqlite3'
import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { photographPage, skip, startConsole } from './console.ts'

const SQL = `
  CREATE TABLE stock (
    id INTEGER PRIMARY KEY,
    sku TEXT NOT NULL UNIQUE,
    title TEXT,
    amount INTEGER NOT NULL,
    price REAL
  );
  INSERT INTO stock VALUES (1, 'pen', '=1+1', 6, 24.5), (2, 'ink', 'Ink', 40, 8), (3, 'pad', NULL, 120, NULL);`

const LINES = 10_000

/** A file whose lines 10, 5,000 and 9,999 are wrong. */
const wrongCsv = () => {
  const lines = Array.from({ length: LINES }, (_, index) => `sku-${index},Title ${index},${index},1.5`)
  lines[8] = 'sku-8,Title,many,1.5'
  lines[4998] = ',Title,1,1.5'
  lines[9997] = 'sku-9997,Title,1,"1,5"'
  return `sku,title,Quantity,price\n${lines.join('\n')}\n`
}

const fileOf = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })

/** What a browser does when a user pastes text on the page. */
const paste = (page: Page, text: string) =>
  page.evaluate(`{
    const data = new DataTransfer()
    data.setData('text/plain', ${JSON.stringify(text)})
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  }`)

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin, file } = await startConsole(t, { database: createDatabase(t, SQL) })
  dataOf(await admin.post('/admin/tables/import', { name: 'stock' }))
  const PAGE = 'tables/1'
  const total = async () => dataOf(await admin.get('/admin/tables/1/data?size=1')).total
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

  const download = async (page: Page) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click()
    ])
    return readFile(await file.path(), 'utf8')
  }

  t.test('an export has the records of the filter in their order, and guards against formulas', async (t) => {
    const filter = encodeURIComponent('{"where":{"amount":{"lt":100}}}')
    const page = await openAsAdmin(t, `${PAGE}?filter=${filter}&order=-amount`)
    await button(page, 'Export').click()
    t.ok(await page.getByLabel('Guard against formulas').isChecked())
    await photographPage(page, 'export')
    t.equal(
      await download(page),
      '"id","sku","title","amount","price"\r\n2,"ink","Ink",40,8.0\r\n1,"pen","\'=1+1",6,24.5\r\n'
    )
    await button(page, 'Export').click()
    await page.getByLabel('Guard against formulas').uncheck()
    await page.getByLabel('Byte order mark').check()
    await page.getByLabel('Only the matching records').uncheck()
    t.match(await download(page), /^\uFEFF"id".*\r\n1,"pen","=1\+1".*\r\n2,.*\r\n3,"pad",,120,\r\n$/s)
  })

  t.test('an export as NDJSON', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await button(page, 'Export').click()
    await page.getByLabel('Format').selectOption('ndjson')
    t.match((await download(page)).split('\n')[1], '{"id":2,"sku":"ink","title":"Ink","amount":40,"price":8.0}')
  })

  t.test('3 wrong lines of 10,000 are listed, and nothing is imported', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    const before = await total()
    await button(page, 'Import').click()
    await page.locator('input[type=file]').setInputFiles(fileOf('stock.csv', wrongCsv()))
    await page.getByLabel('Field of the column Quantity').selectOption({ label: 'amount' })
    await button(page, 'Check the file').click()
    await page.getByText('3 errors were found in the file. Nothing was imported.').waitFor()
    const rows = await page.getByRole('alert').locator('tbody tr').allInnerTexts()
    t.strictSame(
      rows.map((row) => row.split('\t')[0]),
      ['10', '5000', '9999']
    )
    await photographPage(page, 'import-errors')
    t.equal(await total(), before)
  })

  t.test('the import says which columns it leaves out, and why', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await button(page, 'Import').click()
    await page.locator('input[type=file]').setInputFiles(fileOf('odd.csv', 'sku,Colour,title\nnib,red,Nib\n'))
    const note = page.getByRole('note')
    t.match(
      await note.innerText(),
      /^One column of the file is not imported:\s+Colour: stock has no field with this name/
    )
    await page.getByLabel('Field of the column title').selectOption({ label: 'Ignore' })
    t.match(await note.innerText(), /^2 columns .*title: you chose to ignore it\.$/s)
    await photographPage(page, 'import-left-out')
    await page.getByLabel('Field of the column title').selectOption({ label: 'title' })
    await page.getByLabel('Field of the column Colour').selectOption({ label: 'amount' })
    await note.waitFor({ state: 'detached' })
  })

  t.test('a right file is checked, then imported', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await button(page, 'Import').click()
    const csv = 'Code;title;amount\nnib;"Nib; gold";12\npen;Pen;7\n'
    await page.locator('input[type=file]').setInputFiles(fileOf('other.csv', csv))
    await page.getByLabel('Field of the column Code').selectOption({ label: 'sku' })
    await button(page, 'Check the file').click()
    await page.getByText(/has the value of a stored record/).waitFor()
    await page.getByLabel('Records whose key exists').selectOption('upsert')
    await page.getByLabel('Key of a record').selectOption('sku')
    await button(page, 'Check the file').click()
    await page.getByText('The file has no errors. 1 record will be created, 1 changed.').waitFor()
    await photographPage(page, 'import')
    await button(page, 'Import 2 records').click()
    await page.getByText('1 record created and 1 changed in stock').first().waitFor()
    t.match(dataOf(await admin.get('/admin/tables/1/data/1')), { title: 'Pen', amount: 7, price: 24.5 })
    t.equal(await total(), 4)
  })

  t.test('a file with two columns of one name is not sent', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await button(page, 'Import').click()
    await page.locator('input[type=file]').setInputFiles(fileOf('twice.csv', 'sku,title,title\nbox,Box,Case\n'))
    await page.getByText('The file has two columns with the name title.').waitFor()
    t.ok(await button(page, 'Check the file').isDisabled())
  })

  t.test('NDJSON is imported, too', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    const before = await total()
    await button(page, 'Import').click()
    const ndjson = '{"sku":"jar","amount":1}\n{"sku":"mug","amount":2,"title":"Mug"}\n'
    await page.locator('input[type=file]').setInputFiles(fileOf('a.ndjson', ndjson))
    await button(page, 'Check the file').click()
    await button(page, 'Import 2 records').click()
    await page.getByText('2 records created and 0 changed in stock').first().waitFor()
    t.equal(await total(), before + 2)
  })

  t.test('a JSON array is imported, too, and its wrong records have their numbers', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    const before = await total()
    await button(page, 'Import').click()
    const choose = (text: string) => page.locator('input[type=file]').setInputFiles(fileOf('a.json', text))
    await choose('[{"sku":"dot","amount":1},{"sku":"dab","amount":"x"}]')
    await button(page, 'Check the file').click()
    await page
      .getByRole('alert')
      .getByRole('row', { name: /^2 amount/ })
      .waitFor()
    await choose('[\n  {"sku":"dot","amount":1},\n  {"sku":"dab","title":"Dab","amount":2}\n]\n')
    // The file is read before the dialog shows it.
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await button(page, 'Check the file').click()
    await button(page, 'Import 2 records').click()
    await page.getByText('2 records created and 0 changed in stock').first().waitFor()
    t.equal(await total(), before + 2)
  })

  t.test(
    'JSON without records is refused with the accepted formats, and NDJSON is recognised by its content',
    async (t) => {
      const page = await openAsAdmin(t, PAGE)
      await button(page, 'Import').click()
      const choose = (name: string, text: string) => page.locator('input[type=file]').setInputFiles(fileOf(name, text))
      const texts = ['{\n  "sku": "jar",\n  "amount": 1\n}', '"jar"']
      for (const [index, text] of texts.entries()) {
        await choose(`a${index}.json`, text)
        await page.getByText(`a${index}.json could not be read`).first().waitFor()
        await page
          .getByText(/Choose a CSV file, a JSON array of objects, or an NDJSON file/)
          .first()
          .waitFor()
        t.equal(await button(page, 'Check the file').count(), 0)
      }
      await choose('b.json', '{"sku":"tin","amount":1}\n{"sku":"tub","amount":2}\n')
      await button(page, 'Check the file').click()
      await button(page, 'Import 2 records').waitFor()
    }
  )

  t.test('what was chosen for an import, or pasted, is not lost by Escape or a click beside the dialog', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    const question = page.getByRole('dialog', { name: 'Discard the unsaved changes?' })
    const expectAsked = async (name: string) => {
      const dialog = page.getByRole('dialog', { name })
      await page.keyboard.press('Escape')
      await question.waitFor()
      await page.getByRole('button', { name: 'Stay here' }).click()
      await question.waitFor({ state: 'detached' })
      await page.mouse.click(5, 5)
      await question.waitFor()
      await page.getByRole('button', { name: 'Stay here' }).click()
      await question.waitFor({ state: 'detached' })
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Discard' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await button(page, 'Import').click()
    await page.getByRole('dialog', { name: 'Import into stock' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await button(page, 'Import').click()
    await page.locator('input[type=file]').setInputFiles(fileOf('c.csv', 'sku,amount\nlid,1\n'))
    await button(page, 'Check the file').waitFor()
    await expectAsked('Import into stock')
    await paste(page, 'sku\tamount\nlid\t1\n')
    await button(page, 'Create 1 record').waitFor()
    await expectAsked('Paste into stock')
  })

  t.test('500 rows of a spreadsheet are pasted', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await button(page, 'Import').waitFor()
    const before = await total()
    const rows = Array.from({ length: 500 }, (_, index) => `pasted-${index}\t"two\nlines ""${index}"""\t${index}\t`)
    await paste(page, `${rows.join('\r\n')}\r\n`)
    await page.getByText('500 records will be created in stock, all of them or none.').waitFor()
    await photographPage(page, 'paste')
    await button(page, 'Create 500 records').click()
    await page.getByText('500 records created in stock').first().waitFor()
    t.equal(await total(), before + 500)
    const filter = encodeURIComponent('{"where":{"sku":{"eq":"pasted-7"}}}')
    const { rows: found } = dataOf(await admin.get(`/admin/tables/1/data?filter=${filter}`))
    t.match(found, [{ title: 'two\nlines "7"', amount: 7, price: null }])
  })

  t.test('columns have fields by their header, and wrong cells are marked', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await button(page, 'Import').waitFor()
    const before = await total()
    await paste(page, 'Amount\tsku\n1\tfirst\nmany\tsecond\n')
    await page.getByText('2 records will be created in stock, all of them or none.').waitFor()
    t.ok(await page.getByLabel('The first row has the names of the fields').isChecked())
    await page.getByText('1 cell is wrong.').waitFor()
    t.match(await page.locator('td[data-wrong=true]').innerText(), /many\s+Enter an integer/)
    await photographPage(page, 'paste-wrong')
    t.ok(await button(page, 'Create 2 records').isDisabled())
    t.equal(await total(), before)
  })

  t.test('all of the pasted rows are stored, or none', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await button(page, 'Import').waitFor()
    const before = await total()
    await paste(page, 'sku\tamount\nnew-one\t1\npen\t2\n')
    await button(page, 'Create 2 records').click()
    await page.getByText(/^Row 3: .*sku/).waitFor()
    t.equal(await total(), before)
  })

  t.test('lines of one column are rows in the grid, but not in an editor', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const copy = (text: string) => page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    const dialog = page.getByRole('dialog', { name: 'Paste into stock' })
    const cell = page.getByRole('gridcell', { name: 'one line', exact: true })
    await page.getByRole('gridcell', { name: 'ink', exact: true }).click()
    await copy('one line\n')
    await page.keyboard.press('Control+v')
    await page.locator('main:not(:has([class*=saving]))').waitFor()
    await copy('first\r\nsecond\r\n')
    await cell.dblclick()
    t.match(dataOf(await admin.get('/admin/tables/1/data/2')), { sku: 'one line' })
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+v')
    t.match(await page.getByRole('textbox', { name: 'sku' }).inputValue(), /first.*second/s)
    t.equal(await dialog.count(), 0)
    await page.keyboard.press('Escape')
    await cell.click()
    await page.keyboard.press('Control+v')
    await dialog.getByText('2 records will be created in stock, all of them or none.').waitFor()
    await dialog.getByRole('cell', { name: 'second' }).waitFor()
  })

  t.test('an import whose file is sent continues without its dialog, and a notice says what happened', async (t) => {
    const page = await openAsAdmin(t, PAGE)
    const before = await total()
    await button(page, 'Import').click()
    await page.locator('input[type=file]').setInputFiles(fileOf('late.csv', 'sku,amount\nlate,1\n'))
    await button(page, 'Check the file').click()
    await button(page, 'Import 1 record').waitFor()
    const lock = new BetterSqlite3(file)
    t.teardown(() => lock.close())
    lock.exec('BEGIN IMMEDIATE')
    await button(page, 'Import 1 record').click()
    await page.getByText('The service stores the records.').waitFor()
    await button(page, 'Close').click()
    await page.getByRole('dialog', { name: 'Import into stock' }).waitFor({ state: 'detached' })
    t.equal(await total(), before)
    lock.exec('ROLLBACK')
    await page.getByText('1 record created and 0 changed in stock').first().waitFor()
    t.equal(await total(), before + 1)
  })
}

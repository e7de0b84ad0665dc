import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { ALBUMS, findTables } from './albums.ts'
import { photographPage, skip, startConsole } from './console.ts'
import { cell, column, saved, status, watchRequests } from './grid.ts'

const LONG = `start ${'x'.repeat(9990)} end`

const SQL = `
  ${ALBUMS}
  CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT);
  CREATE VIEW titles AS SELECT title FROM album;
  CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, body TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
  INSERT INTO wide SELECT i, 'wide ' || i, hex(zeroblob(350000)) FROM n;
  CREATE TABLE mention (id INTEGER PRIMARY KEY, remark TEXT, wide_id INTEGER REFERENCES wide (id));
  INSERT INTO mention SELECT id, 'remark ' || id, id FROM wide;
  CREATE TABLE letter (id INTEGER PRIMARY KEY, title TEXT);
  INSERT INTO letter SELECT id, hex(zeroblob(400000)) FROM wide;
  CREATE TABLE reply (id INTEGER PRIMARY KEY, remark TEXT, letter_id INTEGER REFERENCES letter (id));
  INSERT INTO reply SELECT id, 'remark ' || id, id FROM wide;
  CREATE TABLE hostile (id INTEGER PRIMARY KEY, "<b>field</b>" TEXT);
  INSERT INTO hostile VALUES (1, '<img src=x onerror="document.title=1"><script>alert(1)</script>'), (2, 'javascript:alert(1)'),
    (3, '\u202etxt.exe \u0645\u0631\u062d\u0628\u0627'), (4, '${LONG}'), (5, 'a' || char(10) || 'b' || char(9) || 'c'), (6, '=cmd()');
`

const TABLES = ['artist', 'album', 'shelf', 'titles', 'hostile', 'wide', 'mention', 'letter', 'reply']

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  dataOf(await admin.post('/admin/tables/import', { names: TABLES }))
  const { pathOf, readAlbum } = await findTables(admin)
  const filterOf = (filter: object) => `?filter=${encodeURIComponent(JSON.stringify(filter))}`

  t.test('a click on a header sorts, and the address keeps the view', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await column(page, 'price').click()
    await column(page, 'price').click()
    await cell(page, 'Album 200').waitFor()
    t.equal(new URL(page.url()).searchParams.get('order'), '-price')
    await column(page, 'year').click({ modifiers: ['Shift'] })
    await page.waitForURL(/order=-price%2Cyear/)
    await page.getByRole('searchbox', { name: 'Search' }).fill('Album 19')
    await status(page, '11 matching records')
    await page.reload()
    await status(page, '11 matching records')
    t.equal(await column(page, 'price').locator('svg').count(), 1)
    await page.getByRole('searchbox', { name: 'Search' }).fill('no such album')
    await page.getByRole('heading', { name: 'No record matches.' }).waitFor()
    await page.getByRole('button', { name: 'Remove search and filter' }).click()
    await status(page, '200 records')
  })

  t.test('a filter is built, read as a sentence, kept in the address, and removed', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Filter records' })
    await dialog.getByLabel('Field').selectOption('year')
    await dialog.getByLabel('Operator').selectOption('gte')
    await dialog.getByLabel('Value').fill('many')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    t.match(await dialog.getByRole('alert').textContent(), /integer/)
    await dialog.getByLabel('Value').fill('2015')
    await dialog.getByRole('button', { name: 'Group' }).click()
    const group = dialog.getByRole('group', { name: 'Group 2' })
    await group.getByLabel('Field').selectOption('title')
    await group.getByLabel('Value').fill('9')
    await photographPage(page, 'filter')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'year is at least 2015 and title contains “9”' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'year is at least 2015 and title contains “9”' }).waitFor()
    t.strictSame(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? ''), {
      all: [{ where: { year: { gte: 2015 } } }, { where: { title: { contains: '9' } } }]
    })
    await status(page, /matching record/)
    await page.getByRole('button', { name: 'Remove the filter' }).click()
    await status(page, '200 records')
  })

  t.test('a filter that was entered is not lost by Escape or a click beside the dialog', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    const question = page.getByRole('dialog', { name: 'Discard the unsaved changes?' })
    const dialog = page.getByRole('dialog', { name: 'Filter records' })
    const open = () => page.getByRole('button', { name: 'Filter', exact: true }).click()
    await open()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await open()
    await dialog.getByLabel('Value').fill('7')
    for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]) {
      await leave()
      await question.waitFor()
      await page.getByRole('button', { name: 'Stay here' }).click()
      await question.waitFor({ state: 'detached' })
    }
    t.equal(await dialog.getByLabel('Value').inputValue(), '7')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Remove the filter' }).waitFor()
    t.equal(await question.count(), 0)
  })

  t.test('the panel of a record is beside the grid and the actions, and covers a narrow screen', async (t) => {
    const page = await openAsAdmin(t, pathOf('album', '?record=1'))
    const panel = page.getByRole('dialog', { name: 'album 1' })
    await panel.waitFor()
    await cell(page, 'Album 1').waitFor()
    const left = (await panel.boundingBox())?.x ?? 0
    for (const part of [
      page.getByRole('grid'),
      page.getByRole('button', { name: 'New record' }),
      page.locator('footer').first()
    ]) {
      const box = await part.boundingBox()
      t.ok(box && box.x + box.width <= left, 'beside the panel')
    }
    await photographPage(page, 'grid-and-panel')
    await page.setViewportSize({ width: 390, height: 800 })
    t.match(await panel.boundingBox(), { x: 0, width: 390 })
  })

  t.test('a filter that the service refuses shows why', async (t) => {
    const page = await openAsAdmin(t, pathOf('album', filterOf({ where: { nowhere: { eq: 1 } } })))
    t.match(await page.getByRole('alert').first().textContent(), /nowhere/)
  })

  t.test('a cell is edited in place', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await cell(page, 'Album 1').waitFor()
    await page.keyboard.press('Control+g')
    await page.keyboard.type('150')
    await page.keyboard.press('Enter')
    await cell(page, 'Album 150').dblclick()
    await page.keyboard.type('Renamed')
    await page.keyboard.press('Escape')
    await cell(page, 'Album 150').waitFor()
    await page.keyboard.type('Renamed')
    await page.keyboard.press('Enter')
    await cell(page, 'Renamed').waitFor()
    await saved(page)
    t.match(await readAlbum(150), { title: 'Renamed', year: 1960 })
    t.ok(await cell(page, 'Album 151').isVisible(), 'saving keeps the place')
    await photographPage(page, 'grid-edited')
  })

  t.test('a value that is no integer, or that the database refuses, stays in its cell with the reason', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    const year = page.getByRole('row').nth(3).getByRole('gridcell').nth(4)
    await year.click()
    await page.keyboard.type('abc')
    await page.keyboard.press('Enter')
    t.match(await year.getByRole('alert').textContent(), /integer/)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('12')
    await page.keyboard.press('Enter')
    await year.getByRole('alert').getByText(/year/).waitFor()
    await photographPage(page, 'grid-error')
    await page.keyboard.press('Escape')
    await year.getByRole('alert').waitFor({ state: 'detached' })
    t.match(await readAlbum(3), { year: 1953 })
  })

  t.test('two people who change one cell see both versions', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    const edit = async (id: number, title: string) => {
      await cell(page, `Album ${id}`).dblclick()
      await page.getByRole('textbox', { name: 'title' }).fill(title)
    }
    await edit(10, 'Mine')
    await admin.put(`/admin/${pathOf('album')}/data/10`, { title: 'Theirs' })
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: / has changed since you opened it$/ })
    await dialog.getByText('Theirs', { exact: true }).last().waitFor()
    await photographPage(page, 'grid-conflict')
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await cell(page, 'Mine').waitFor()
    await dialog.waitFor({ state: 'detached' })
    await saved(page)
    t.match(await readAlbum(10), { title: 'Mine' })

    await admin.put(`/admin/${pathOf('album')}/data/11`, { title: 'Changed before' })
    await edit(11, 'Mine again')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Take theirs' }).click()
    await cell(page, 'Changed before').waitFor()
    t.match(await readAlbum(11), { title: 'Changed before' })
  })

  t.test('values are text, whatever they contain', async (t) => {
    const page = await openAsAdmin(t, pathOf('hostile'))
    await cell(page, '=cmd()').waitFor()
    t.equal(await column(page, '<b>field</b>').count(), 1)
    t.match(await page.getByRole('grid').innerText(), '<script>alert(1)</script>')
    t.equal(await page.getByRole('grid').locator('img, script, b').count(), 0)
    t.equal(await page.locator('a[href^="javascript"]').count(), 0)
    const long = page.getByText(/^start x/)
    t.ok(((await long.textContent()) ?? '').length < 1000, 'a long text is cut')
    await photographPage(page, 'grid-hostile')
  })

  t.test('the choice of columns and the height of rows are kept', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'year' }).uncheck()
    await page.getByRole('checkbox', { name: 'Compact rows' }).check()
    await page.getByRole('button', { name: 'Pin title at the left' }).click()
    await page.getByRole('button', { name: 'Move title up' }).click()
    await photographPage(page, 'grid-columns')
    await page.reload()
    await column(page, 'title').waitFor()
    const names = await page.getByRole('columnheader').allInnerTexts()
    t.strictSame(names.slice(1), ['title', 'id', 'artist_id', 'price'])
    t.equal((await page.getByRole('row').nth(2).boundingBox())?.height, 26)
  })

  t.test('a view, and a table without records, say what can be done', async (t) => {
    const page = await openAsAdmin(t, pathOf('titles'))
    await cell(page, 'Album 1').dblclick()
    t.equal(await page.getByRole('textbox', { name: 'title' }).count(), 0)
    t.equal(await page.getByRole('checkbox').count(), 0)
    await status(page, 'A view can only be read.')
    await page.getByRole('link', { name: 'shelf' }).click()
    await page.getByRole('heading', { name: 'shelf has no records yet.' }).waitFor()
    await photographPage(page, 'grid-empty')
    await page.getByRole('button', { name: 'New record' }).last().click()
    await page.getByRole('dialog').waitFor()
  })

  t.test('a cell is copied as text', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'), { permissions: ['clipboard-read', 'clipboard-write'] })
    await cell(page, 'Album 5').click()
    await page.keyboard.press('Control+c')
    t.equal(await page.evaluate('navigator.clipboard.readText()'), 'Album 5')
    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).click()
    await page.keyboard.press('Control+c')
    t.equal(await page.evaluate('navigator.clipboard.readText()'), '1\tAlbum 1\t2\t1951\t0.1\n2\tAlbum 2\t1\t1952\t0.2')
  })

  t.test('text that is selected in an editor is copied, not the cell', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'), { permissions: ['clipboard-read', 'clipboard-write'] })
    await cell(page, 'Album 5').dblclick()
    await page.keyboard.type('Typed text')
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+c')
    t.equal(await page.evaluate('navigator.clipboard.readText()'), 'Typed text')
  })

  t.test('a hidden column keeps its place, and a column moves among the pinned ones or the others', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    const names = async () => (await page.getByRole('columnheader').allInnerTexts()).slice(1)
    await page.getByRole('button', { name: 'Columns' }).click()
    t.ok(await page.getByRole('button', { name: 'Move id down' }).isDisabled(), 'the only pinned column')
    t.ok(await page.getByRole('button', { name: 'Move title up' }).isDisabled(), 'the first that is not pinned')
    t.ok(await page.getByRole('button', { name: 'Move title down' }).isEnabled())
    await page.getByRole('checkbox', { name: 'artist_id' }).uncheck()
    await page.keyboard.press('Escape')
    await column(page, 'price').dragTo(column(page, 'year'))
    t.strictSame(await names(), ['id', 'title', 'price', 'year'])
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'artist_id' }).check()
    await page.keyboard.press('Escape')
    t.strictSame(await names(), ['id', 'title', 'artist_id', 'price', 'year'])
  })

  t.test('records that are too large for one response together are shown', async (t) => {
    const page = await openAsAdmin(t, pathOf('wide'))
    await cell(page, 'wide 1').waitFor()
    await cell(page, 'wide 12').waitFor()
  })

  t.test('of large records to which records refer, only the labels are loaded', async (t) => {
    const page = await openAsAdmin(t, pathOf('mention'))
    const watched = watchRequests(page)
    await page.reload()
    await cell(page, 'remark 12').waitFor()
    t.equal(await page.getByRole('gridcell', { name: 'wide 12 12 Open 12 of wide' }).count(), 1)
    t.equal(watched.requests, 1)
  })

  t.test('records that refer to records with large labels are shown without labels', async (t) => {
    const page = await openAsAdmin(t, pathOf('reply'))
    const watched = watchRequests(page)
    await page.reload()
    await cell(page, 'remark 12').waitFor()
    t.equal(await page.getByRole('gridcell', { name: '12 Open 12 of letter' }).count(), 1)
    t.equal(watched.requests, 2, 'the page is read once more, and not record by record')
  })

  t.test('the grid works in the dark and on a narrow screen', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'), { colorScheme: 'dark', viewport: { width: 390, height: 800 } })
    await cell(page, 'Album 1').waitFor()
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= 390'), 'the page is not wider than the screen')
    await photographPage(page, 'grid-narrow-dark')
  })
}

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { ALBUMS, findTables } from './albums.ts'
import { photographPage, skip, startConsole } from './console.ts'
import { cell, column, holdRequests, status } from './grid.ts'

const SQL = `
  ${ALBUMS}
  CREATE TABLE track (id INTEGER PRIMARY KEY, title TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
  INSERT INTO track SELECT i, 'Track ' || i FROM n;
`

/** The rows that are selected and rendered, and those that the grid shows as a whole below its header. */
const ROWS = `(() => {
  const grid = document.querySelector('[role=grid]')
  const boxes = [...grid.querySelectorAll('.rdg-row')]
  const numberOf = (row) => Number(row.querySelector('button').textContent)
  const top = grid.querySelector('[role=columnheader]').getBoundingClientRect().bottom
  const bottom = grid.getBoundingClientRect().top + grid.clientHeight
  const isShown = (row) => {
    const box = row.getBoundingClientRect()
    return box.top > top - 1 && box.bottom < bottom + 1
  }
  return {
    selected: boxes.filter((row) => row.querySelector('input').checked).map(numberOf),
    shown: boxes.filter(isShown).map(numberOf)
  }
})()`

const readRows = (page: Page) => page.evaluate<{ selected: number[]; shown: number[] }>(ROWS)

/** Waits until the status bar names the rows that are seen, as after scrolling, and until they are loaded. */
const waitForRows = async (page: Page) => {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))')
  const { shown } = await readRows(page)
  await status(page, `Rows ${shown[0]}–${shown.at(-1)}`)
  for (const row of shown) await checkbox(page, row, { disabled: false }).waitFor()
}

/** The checkbox of a row that is not loaded yet is disabled. */
const checkbox = (page: Page, row: number, options: { readonly disabled?: false } = {}) =>
  page.getByRole('checkbox', { name: `Select row ${row.toLocaleString('en')}`, exact: true, ...options })

const goToRow = async (page: Page, row: number) => {
  await page.getByLabel('Go to row').fill(String(row))
  await page.keyboard.press('Enter')
  await checkbox(page, row).waitFor()
}

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  dataOf(await admin.post('/admin/tables/import', { names: ['artist', 'album', 'track'] }))
  const { pathOf } = await findTables(admin)
  const idsOf = async (name: string): Promise<number[]> => {
    const body = (await admin.get(`/admin/${pathOf(name)}/export?format=ndjson`)).body
    return body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
  }

  const expectVisible = async (t: Test, page: Page, what: string) => {
    await waitForRows(page)
    // A click of Playwright would scroll first, because the header is sticky.
    await page.getByRole('checkbox', { name: 'Select the visible rows' }).dispatchEvent('click')
    await page.getByText(/records? selected/).waitFor()
    const { selected, shown } = await readRows(page)
    t.ok(shown.length > 0)
    t.strictSame(selected, shown, what)
    await page.getByText(`${shown.length} records selected`).waitFor()
    await page.getByRole('checkbox', { name: 'Select nothing' }).click()
  }

  t.test('the checkbox of the header selects the rows that are seen, and no other', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await cell(page, 'Album 5').waitFor()
    for (const height of [720, 701, 433]) {
      await page.setViewportSize({ width: 1280, height })
      await expectVisible(t, page, `at the top, ${height} pixels high`)
    }
    for (const top of [50, 1000, 100_000]) {
      await page.evaluate(`document.querySelector('[role=grid]').scrollTop = ${top}`)
      await expectVisible(t, page, `scrolled to ${top}`)
    }
    await goToRow(page, 199)
    await expectVisible(t, page, 'at a row near the end')
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Compact rows' }).check()
    await page.keyboard.press('Escape')
    await goToRow(page, 50)
    await expectVisible(t, page, 'compact rows')
  })

  t.test('Shift selects all rows of the range, also those that are not loaded', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await checkbox(page, 3).click()
    await goToRow(page, 185)
    await checkbox(page, 190).click({ modifiers: ['Shift'] })
    await page.getByText('188 records selected').waitFor()
    await photographPage(page, 'grid-range')
    await page.getByRole('button', { name: 'Delete 188 records from album' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 188 records from album' }).click()
    await status(page, '12 records')
    t.strictSame(await idsOf('album'), [1, 2, 191, 192, 193, 194, 195, 196, 197, 198, 199, 200])
    await page.getByRole('button', { name: 'Undo' }).click()
    await status(page, '200 records')
  })

  t.test('a range is selected and deselected in both directions, in the order that is shown', async (t) => {
    const page = await openAsAdmin(t, pathOf('album', '?order=-id'))
    await goToRow(page, 180)
    await checkbox(page, 182).click()
    await goToRow(page, 1)
    await checkbox(page, 2).click({ modifiers: ['Shift'] })
    await page.getByText('181 records selected').waitFor()
    await checkbox(page, 2).click()
    await goToRow(page, 180)
    await checkbox(page, 181).click({ modifiers: ['Shift'] })
    await page.getByText('1 record selected').waitFor()
    t.equal(await checkbox(page, 182).isChecked(), true)
  })

  t.test('a range whose records have changed is not selected', async (t) => {
    const page = await openAsAdmin(t, pathOf('track'))
    await checkbox(page, 1).click()
    await goToRow(page, 185)
    await cell(page, 'Track 190').waitFor()
    dataOf(await admin.delete(`/admin/${pathOf('track')}/data/100`))
    await checkbox(page, 190).click({ modifiers: ['Shift'] })
    await page.getByText('The records have changed. Select the range again.').waitFor()
    await page.getByText('1 record selected').waitFor()
    await cell(page, 'Track 191').waitFor()
    await checkbox(page, 1).waitFor({ state: 'detached' })
    await goToRow(page, 1)
    await checkbox(page, 1).click()
    await checkbox(page, 1).click()
    await goToRow(page, 185)
    await checkbox(page, 190).click({ modifiers: ['Shift'] })
    await page.getByText('190 records selected').waitFor()
  })

  t.test('a range of more than 1,000 rows, and one whose rows cannot be read, is not selected', async (t) => {
    const page = await openAsAdmin(t, pathOf('track'))
    await checkbox(page, 1).click()
    await goToRow(page, 1200)
    await checkbox(page, 1201).click({ modifiers: ['Shift'] })
    await page.getByText('At most 1,000 records can be selected at a time.').waitFor()
    await page.getByText('1 record selected').waitFor()
    await page.route(/\/data\?.*page=39/, (route) => route.abort())
    await goToRow(page, 1100)
    await checkbox(page, 1101).click({ modifiers: ['Shift'] })
    await page.getByText('The range could not be selected').first().waitFor()
    await page.getByText('1 record selected').waitFor()
  })

  t.test('nothing is deleted while the rows of a range are read, and another order ends the reading', async (t) => {
    const page = await openAsAdmin(t, pathOf('album'))
    await checkbox(page, 1).click()
    await goToRow(page, 185)
    await cell(page, 'Album 190').waitFor()
    const { waitForSent, release } = await holdRequests(page, 'GET')
    await checkbox(page, 190).click({ modifiers: ['Shift'] })
    await waitForSent(1)
    await page.getByText('Reading the rows of the range').waitFor()
    t.equal(await page.getByRole('button', { name: 'Delete 1 record from album' }).isDisabled(), true)
    await column(page, 'title').click()
    await page.getByText('Reading the rows of the range').waitFor({ state: 'detached' })
    release()
    await cell(page, 'Album 10').waitFor()
    await checkbox(page, 3).click({ modifiers: ['Shift'] })
    await page.getByText('1 record selected').waitFor()
    t.strictSame((await readRows(page)).selected, [3])
  })
}

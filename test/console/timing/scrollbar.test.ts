import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createDatabase, dataOf } from '../../helpers.ts'
import { skip, startConsole } from '../console.ts'
import { MAX_WAITING_ROWS, watchRequests } from '../grid.ts'

const ROWS = 1_000_000
const STEPS = 60
/** From an end of the scrollbar to the middle of its thumb, when that is at this end. */
const THUMB = 26

const SQL = `
  CREATE TABLE big (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
  INSERT INTO big SELECT i, 'item ' || i FROM n;`

interface Shown {
  readonly numbers: readonly number[]
  readonly names: readonly string[]
}

/** The numbers and names of the rows that are in the window. Empty names: not loaded yet. */
const SHOWN = `(() => {
  const grid = document.querySelector('[role=grid]')
  const { top, bottom } = grid.getBoundingClientRect()
  const rows = [...grid.querySelectorAll('[role=row]')].slice(1).filter((row) => {
    const box = row.getBoundingClientRect()
    return box.bottom > top + 40 && box.top < bottom
  })
  const cells = rows.map((row) => [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.innerText.trim()))
  return {
    numbers: cells.map((row) => Number(row[0].replaceAll(',', ''))),
    names: cells.map((row) => row.find((text) => text.startsWith('item')) ?? '')
  }
})()`

/** Asserts that all rows in the window are loaded, follow each other, and have the records of their numbers. */
const expectRows = async (t: Test, page: Page, isPlace: (numbers: readonly number[]) => boolean) => {
  await page.locator('[class*=skeleton]').first().waitFor({ state: 'detached' })
  const { numbers, names } = await page.evaluate<Shown>(SHOWN)
  const [first = 0] = numbers
  t.ok(numbers.length > 10, `${numbers.length} rows are shown`)
  t.strictSame(
    numbers,
    numbers.map((_, index) => first + index),
    'the rows follow each other'
  )
  t.strictSame(
    names,
    numbers.map((number) => `item ${number}`),
    'each row has its record'
  )
  t.ok(isPlace(numbers), `the rows from ${first} on are shown`)
}

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL), hasScrollbars: true })
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'big' }))

  t.test('the scrollbar of a million rows is dragged to the end, to the middle and back', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}`)
    await page.getByRole('gridcell', { name: 'item 1', exact: true }).waitFor()
    const box = await page.getByRole('grid').boundingBox()
    if (!box) throw new Error('The grid is not shown.')
    const x = box.x + box.width - 6
    const bottom = box.y + box.height
    const requests = watchRequests(page)
    let y = box.y + THUMB

    const drag = async (to: number) => {
      await page.mouse.move(x, y)
      await page.mouse.down()
      await page.mouse.move(x, to, { steps: STEPS })
      await page.mouse.up()
      y = to
    }
    await drag(bottom + 20)
    await page.getByRole('gridcell', { name: `item ${ROWS}`, exact: true }).waitFor()
    await expectRows(t, page, (numbers) => numbers.at(-1) === ROWS)

    y = bottom - THUMB
    await drag(box.y + box.height / 2)
    await expectRows(t, page, ([first = 0]) => Math.abs(first - ROWS / 2) < ROWS / 20)

    await drag(box.y - 20)
    await page.getByRole('gridcell', { name: 'item 1', exact: true }).waitFor()
    await expectRows(t, page, ([first]) => first === 1)
    t.ok(requests.requests >= 3, `${requests.requests} requests`)
    t.ok(requests.most <= MAX_WAITING_ROWS, `${requests.most} rows' worth of requests waited at most`)
  })
}

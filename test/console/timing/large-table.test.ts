import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createDatabase, dataOf } from '../../helpers.ts'
import { photographPage, skip, startConsole } from '../console.ts'
import { cell, MAX_WAITING_ROWS, scrollTo, status, watchRequests } from '../grid.ts'

const ROWS = 1_000_000
const MAX_FRAME_MS = 100

const SQL = `
  CREATE TABLE big (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, note TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
  INSERT INTO big SELECT i, 'item ' || i, i % 1000 / 4.0, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'note' END FROM n;
`

/** Starts to measure the longest time between two frames. */
const START_MEASURE = `{
  const times = { frame: 0, last: performance.now(), isOn: true }
  window.times = times
  const step = (now) => {
    times.frame = Math.max(times.frame, now - times.last)
    times.last = now
    if (times.isOn) requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}`

const MAX_ATTEMPTS = 6

interface Attempt {
  readonly prepare: () => Promise<void>
  readonly run: () => Promise<void>
}

/** Repeats `run` on a new page until no frame takes too long, because other programs on the machine delay frames, too. */
const expectQuickFrames = async (t: Test, page: Page, { prepare, run }: Attempt) => {
  const results: string[] = []
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    await page.reload()
    await prepare()
    await page.evaluate(START_MEASURE)
    await run()
    const frame = await page.evaluate<number>('window.times.isOn = false, window.times.frame')
    results.push(`longest frame ${frame.toFixed(0)} ms`)
    if (frame < MAX_FRAME_MS) return t.pass(results.join('; '))
  }
  t.fail(results.join('; '))
}

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const path = `tables/${dataOf(await admin.post('/admin/tables/import', { name: 'big' })).id}`

  t.test('a million rows scroll to the last one and back', async (t) => {
    const page = await openAsAdmin(t, path)
    await cell(page, 'item 1').waitFor()
    await status(page, '1,000,000 records')
    await photographPage(page, 'grid')
    const requests = watchRequests(page)
    const prepare = () => cell(page, 'item 1').waitFor()
    const run = async () => {
      await scrollTo(page, 1)
      await cell(page, 'item 1000000').waitFor()
      await status(page, /Rows .*–1,000,000/)
      await scrollTo(page, 0.5)
      await page
        .getByRole('gridcell', { name: /^item (?:499|500)\d{3}$/ })
        .first()
        .waitFor()
      await scrollTo(page, 0)
      await cell(page, 'item 1').waitFor()
    }
    await expectQuickFrames(t, page, { prepare, run })
    t.ok(requests.requests > 3, `${requests.requests} requests`)
    t.ok(requests.most <= MAX_WAITING_ROWS, `${requests.most} rows' worth of requests waited`)
  })

  t.test('the wheel moves row by row, from any place, without gaps', async (t) => {
    const page = await openAsAdmin(t, path)
    await cell(page, 'item 1').waitFor()
    const requests = watchRequests(page)
    const prepare = async () => {
      await cell(page, 'item 1').waitFor()
      await page.keyboard.press('Control+g')
      await page.keyboard.type('700')
      await page.keyboard.press('Enter')
      await cell(page, 'item 700').waitFor()
      await page.mouse.move(700, 400)
    }
    const run = async () => {
      // Selectors by role compute the names of all cells, which delays frames.
      for (let step = 0; step < 60; step += 1) await page.mouse.wheel(0, 320)
      await page.locator('text="item 1300"').waitFor()
      for (let step = 0; step < 60; step += 1) await page.mouse.wheel(0, -320)
      await page.locator('text="item 700"').waitFor()
    }
    await expectQuickFrames(t, page, { prepare, run })
    for (let step = 0; step < 80; step += 1) await page.mouse.wheel(0, -320)
    await page.locator('text="item 1"').waitFor()
    t.ok(requests.requests > 3, `${requests.requests} requests`)
    t.ok(requests.most <= MAX_WAITING_ROWS, `${requests.most} rows' worth of requests waited`)
  })

  t.test('keys move from cell to cell, to both ends', async (t) => {
    const page = await openAsAdmin(t, path)
    await cell(page, 'item 3').click()
    await page.keyboard.press('Control+End')
    await cell(page, 'item 1000000').and(page.locator('[aria-selected=true]')).waitFor()
    await page.keyboard.press('ArrowUp')
    await cell(page, 'item 999999').and(page.locator('[aria-selected=true]')).waitFor()
    await page.keyboard.press('Control+Home')
    await cell(page, 'item 1').waitFor()
    // The scrollbar leaves the active cell. A key comes back to it.
    await cell(page, 'item 2').click()
    await scrollTo(page, 0.7)
    await cell(page, 'item 2').waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowDown')
    await cell(page, 'item 3').and(page.locator('[aria-selected=true]')).waitFor()
  })
}

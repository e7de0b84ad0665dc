import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createTable, dataOf } from '../../helpers.ts'
import { logIn, skip, startConsole } from '../console.ts'

const MAX_BYTES = 170_000
/** A quiet machine needs less than a second. The medians are printed. */
const MAX_MS = 3000
const LOADS = 5
const MAX_ATTEMPTS = 3

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** The bytes of the document and its files as they were sent: compressed. */
const SIZES = `(() => {
  const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  const files = new Map(entries.filter(({ name }) => name.includes('/console/')).map((entry) => [entry.name, entry]))
  const sum = (key) => [...files.values()].reduce((total, entry) => total + entry[key], 0)
  return { sent: sum('encodedBodySize'), decoded: sum('decodedBodySize'), files: files.size }
})()`

const sizesOf = async (page: Page) => {
  await page.waitForLoadState('networkidle')
  return page.evaluate<{ sent: number; decoded: number; files: number }>(SIZES)
}

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, open } = await startConsole(t)
  const { id } = await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom' }))
  let storageState: BrowserContextOptions['storageState']

  const loginShown = (page: Page) => page.getByLabel('Name').waitFor()
  const tablesShown = (page: Page) => page.getByRole('link', { name: 'pets' }).first().waitFor()

  t.test('login and tables are small, and the grid is loaded on demand', async (t) => {
    const page = await open(t)
    await loginShown(page)
    const login = await sizesOf(page)
    await logIn(page)
    await tablesShown(page)
    const tables = await sizesOf(page)
    await page.getByRole('link', { name: 'pets' }).first().click()
    await page.getByRole('gridcell', { name: 'Tom' }).waitFor()
    const grid = await sizesOf(page)
    t.comment(`login: ${kilobytes(login.sent)}, login and tables: ${kilobytes(tables.sent)}`)
    t.comment(`added by the grid: ${kilobytes(grid.sent - tables.sent)}`)
    t.ok(login.sent < login.decoded / 2, 'the files are compressed')
    t.ok(tables.sent <= MAX_BYTES, `${tables.sent} bytes, at most ${MAX_BYTES}`)
    t.ok(grid.files > tables.files, 'the grid is not part of login and tables')
    storageState = await page.context().storageState()
  })

  /** Returns the median of the times from the navigation until a part of the page is shown, without a cache. */
  const measure = async (t: Test, shown: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
    const times: number[] = []
    for (let load = 0; load < LOADS; load += 1) {
      const page = await open(t, '', options)
      await shown(page)
      times.push(await page.evaluate<number>('performance.now()'))
      await page.context().close()
    }
    t.comment(`${t.name}: ${times.map((time) => `${time.toFixed(0)} ms`).join(', ')}`)
    return median(times)
  }

  /** Measures again if a median is too long, because other programs on the machine delay loads, too. */
  const expectQuick = async (...args: Parameters<typeof measure>) => {
    const medians: number[] = []
    while (medians.length < MAX_ATTEMPTS && !medians.some((time) => time < MAX_MS)) medians.push(await measure(...args))
    args[0].ok(Math.min(...medians) < MAX_MS, medians.map((time) => `median ${time.toFixed(0)} ms`).join('; '))
  }

  t.test('the login is shown soon', (t) => expectQuick(t, loginShown))

  t.test('the tables are shown soon', (t) => expectQuick(t, tablesShown, storageState ? { storageState } : {}))
}

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createPages } from '../browser/chromium.ts'
import { createDatabase, temporaryDirectory } from '../fixtures.ts'
import { type Service, startService } from '../service-process.ts'
import { logIn, photographPage, skip } from './console.ts'

const SQL = `
  CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER);
  INSERT INTO pets VALUES (1, 'Tom', 2020), (2, 'Kit', 2021);`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const DATABASE = createDatabase(t, SQL)
  const DATA_DIR = temporaryDirectory(t)
  const start = (port = 0) => startService(t, { DATABASE, DATA_DIR, PORT: String(port) })
  let service: Service = await start()
  const openPage = createPages(t)

  const stop = () => service.end('SIGKILL')
  const restart = async () => {
    service = await start(service.port)
  }

  /** Sends a request with the session of the page. */
  const send = async (page: Page, method: 'GET' | 'POST', path: string, data?: object) => {
    const response = await page.request.fetch(`${service.address}${path}`, { method, ...(data && { data }) })
    return (await response.json()).data
  }

  const openTable = async (t: Test, query = '') => {
    const page = await openPage(t, `${service.address}/console/`)
    await logIn(page)
    const tables: { id: number }[] = await send(page, 'GET', '/admin/tables')
    const { id } = tables[0] ?? (await send(page, 'POST', '/admin/tables/import', { name: 'pets' }))
    await page.goto(`${service.address}/console/tables/${id}${query}`)
    await page.getByRole('row', { name: '2021' }).waitFor()
    return { page, read: (pk: number) => send(page, 'GET', `/admin/tables/${id}/data/${pk}`) }
  }
  const written = (page: Page) => page.waitForResponse((response) => response.request().method() === 'PUT')

  t.test('a record in the panel survives a restart of the service', async (t) => {
    const { page, read } = await openTable(t, '?record=1')
    const panel = page.getByRole('dialog', { name: 'pets 1', exact: true })
    await panel.getByLabel('name', { exact: true }).fill('Max')
    await panel.getByLabel('born', { exact: true }).fill('1999')
    await stop()
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    await photographPage(page, 'restart-panel')
    t.equal(await panel.getByLabel('name', { exact: true }).inputValue(), 'Max')
    await restart()
    t.match(await read(1), { name: 'Tom', born: 2020 })
    t.equal(await panel.getByLabel('born', { exact: true }).inputValue(), '1999')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved pets 1', { exact: true }).waitFor()
    t.equal(await panel.getByRole('alert').count(), 0)
    t.match(await read(1), { name: 'Max', born: 1999 })
  })

  t.test('a cell in the grid survives a restart of the service', async (t) => {
    const { page, read } = await openTable(t)
    const cell = page.getByRole('row').nth(2).getByRole('gridcell').nth(2)
    await page.getByRole('gridcell', { name: 'Kit', exact: true }).dblclick()
    await page.getByRole('textbox', { name: 'name' }).fill('Leo')
    await stop()
    await page.keyboard.press('Enter')
    await cell.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    await photographPage(page, 'restart-grid')
    await restart()
    t.match(await cell.innerText(), 'Leo')
    t.match(await read(2), { name: 'Kit' })
    await cell.click()
    await page.keyboard.press('Enter')
    t.equal(await page.getByRole('textbox', { name: 'name' }).inputValue(), 'Leo')
    const saved = written(page)
    await page.keyboard.press('Enter')
    t.equal((await saved).status(), 200)
    await cell.getByRole('alert').waitFor({ state: 'detached' })
    t.match(await read(2), { name: 'Leo' })
  })

  t.test('a page that is opened while the service is stopped says so, and can be loaded again', async (t) => {
    const { page } = await openTable(t)
    await stop()
    const problem = page.getByRole('main').getByRole('alert')
    await page.getByRole('link', { name: 'Overview' }).click()
    await problem.getByText('The service cannot be reached.').first().waitFor()
    await page.getByRole('link', { name: 'Tokens' }).click()
    await problem.getByText('The page could not be loaded.').waitFor()
    await photographPage(page, 'restart-page')
    await restart()
    await page.getByRole('button', { name: 'Reload the console' }).click()
    await page.getByRole('heading', { name: 'There is no token yet.' }).waitFor()
  })
}

import type { Page } from 'playwright-core'
import t from 'tap'
import { createTable, dataOf, PASSWORD } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { holdResponse, photographPage, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, open, openAsAdmin } = await startConsole(t)
  await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
  dataOf(await admin.post('/admin/tables/1/data', { name: 'Tom' }))
  const read = async () => dataOf(await admin.get('/admin/tables/1/data/1'))

  const field = (page: Page) => page.getByLabel('name', { exact: true })
  const ended = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' })

  /** The page checks its session when its window gets the focus. */
  const checkSession = (page: Page) => page.evaluate('window.dispatchEvent(new Event("focus"))')

  const logInAgain = async (page: Page) => {
    await ended(page).getByLabel('Password').fill(PASSWORD)
    await ended(page).getByRole('button', { name: 'Log in', exact: true }).click()
    await ended(page).waitFor({ state: 'detached' })
  }

  t.test('the address of the service leads to the login', async (t) => {
    const page = await open(t, '../')
    await page.getByRole('heading', { name: 'Log in to Rowhouse' }).waitFor()
    t.match(page.url(), /\/console\/$/)
    await photographPage(page, 'login')
    await expectAccessible(t, page)
  })

  t.test('a wrong password is refused', async (t) => {
    const page = await open(t)
    await page.getByLabel('Name').waitFor()
    // The name has the focus.
    await page.keyboard.type('admin')
    await page.getByLabel('Password').fill('wrong password')
    await page.getByRole('button', { name: 'Log in' }).click()
    t.match(await page.getByRole('alert').textContent(), /password/)
  })

  t.test('a login shows the page of the address', async (t) => {
    const page = await openAsAdmin(t, 'nowhere/at/all')
    await page.getByRole('heading', { name: 'There is no such page.' }).first().waitFor()
    await photographPage(page, 'not-found')
    await expectAccessible(t, page)
  })

  t.test('a user who stays on the page after all loses nothing', async (t) => {
    const page = await openAsAdmin(t, 'tables/1?record=1')
    await field(page).fill('Kit')
    await page.context().clearCookies()
    await checkSession(page)
    await ended(page).waitFor()
    const asked = page.waitForEvent('dialog')
    const left = ended(page).getByRole('button', { name: 'Log in as somebody else' }).click()
    await (await asked).dismiss()
    await left
    await logInAgain(page)
    await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('Tom')
    await page.waitForURL(/q=Tom/)
    t.equal(await field(page).inputValue(), 'Kit')
  })

  t.test('a check of the session that was sent before its end does not close the login', async (t) => {
    const page = await openAsAdmin(t, 'tables/1?record=1')
    await field(page).waitFor()
    const { handled, release } = await holdResponse(page, 'GET', '**/auth/me')
    await checkSession(page)
    await handled
    await field(page).fill('Max')
    await page.context().clearCookies()
    await page.keyboard.press('Control+s')
    await ended(page).waitFor()
    const refused = page.waitForResponse((response) => response.status() === 401)
    release()
    await refused
    await logInAgain(page)
    await page.getByText('Saved pets 1').waitFor()
    t.equal((await read()).name, 'Max')
  })
}

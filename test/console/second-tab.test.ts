import type { Page } from 'playwright-core'
import t from 'tap'
import { createTable, dataOf, PASSWORD } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { logIn, photographPage, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, open, openAsAdmin } = await startConsole(t)
  await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
  dataOf(await admin.post('/admin/tables/1/data', { name: 'Tom' }))
  dataOf(await admin.post('/admin/admins', { name: 'grace', nickname: '', password: PASSWORD }))
  const read = async () => dataOf(await admin.get('/admin/tables/1/data/1'))

  const field = (page: Page) => page.getByLabel('name', { exact: true })
  const switched = (page: Page) => page.getByRole('dialog', { name: '“grace” is logged in now' })

  /** Opens the same browser's second tab. */
  const openTab = async (page: Page) => {
    const tab = await page.context().newPage()
    await tab.goto(new URL('/console/account', page.url()).href)
    return tab
  }

  const logOut = async (page: Page) => {
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in to Rowhouse' }).waitFor()
  }

  t.test('a login of another administrator in a second tab is shown in the first one', async (t) => {
    const first = await openAsAdmin(t, 'tables/1?record=1')
    await field(first).fill('Kit')
    const second = await openTab(first)
    await logOut(second)
    const ended = first.getByRole('dialog', { name: 'Your session has ended' })
    await ended.waitFor()
    await logIn(second, 'grace')
    await switched(first).waitFor()
    t.equal(await ended.count(), 0)
    await photographPage(first, 'session-switched')
    await expectAccessible(t, first)
    await switched(first).getByRole('button', { name: 'Go on as “grace”' }).click()
    await first.getByRole('button', { name: 'Later' }).click()
    t.equal(await field(first).inputValue(), 'Kit')
    t.equal((await read()).name, 'Tom', 'nothing is saved before the user decides')
    await first.keyboard.press('Control+s')
    await first.getByText('Saved pets 1').waitFor()
    t.equal((await read()).name, 'Kit')
  })

  t.test('the first administrator logs in again over the page', async (t) => {
    const first = await openAsAdmin(t, 'tables/1?record=1')
    await field(first).fill('Max')
    // The request has the cookies of the browser, but the page does not know about it.
    const login = new URL('/auth/login', first.url()).href
    await first.request.post(login, { data: { name: 'grace', password: PASSWORD } })
    await first.evaluate('window.dispatchEvent(new Event("focus"))')
    await switched(first).getByLabel('Password').fill(PASSWORD)
    await switched(first).getByRole('button', { name: 'Log in', exact: true }).click()
    await switched(first).waitFor({ state: 'detached' })
    await first.keyboard.press('Control+s')
    await first.getByText('Saved pets 1').waitFor()
    const account = await first.request.get(new URL('/auth/me', first.url()).href)
    t.equal((await account.json()).data.name, 'admin')
    t.equal((await read()).name, 'Max')
  })

  t.test('a login of the same administrator in a second tab ends the question in the first one', async (t) => {
    const first = await openAsAdmin(t, 'account')
    const second = await openTab(first)
    await logOut(second)
    const ended = first.getByRole('dialog', { name: 'Your session has ended' })
    await ended.waitFor()
    await logIn(second)
    await ended.waitFor({ state: 'detached' })
    t.equal(await first.getByRole('dialog').count(), 0)
  })

  t.test('a new password may wait until the next login', async (t) => {
    const page = await open(t, 'tokens')
    await logIn(page, 'grace')
    const question = page.getByRole('dialog', { name: 'Choose a new password' })
    await question.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'There is no token yet.' }).waitFor()
    t.equal(await question.count(), 0)
    await page.goto(new URL('account', page.url()).href)
    await logOut(page)
    await page.getByLabel('Name').fill('grace')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).click()
    await question.waitFor()
  })
}

import t from 'tap'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { open, openAsAdmin } = await startConsole(t)

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
}

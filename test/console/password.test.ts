import t from 'tap'
import { createTable, dataOf, PASSWORD } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

const NEW_PASSWORD = 'battery staple'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  t.test('a first password must be changed if the service requires it', async (t) => {
    const { admin, open } = await startConsole(t, { env: { REQUIRE_PASSWORD_CHANGE: 'true' } })
    dataOf(await admin.put('/auth/password', { oldPassword: PASSWORD, newPassword: NEW_PASSWORD }))
    await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
    dataOf(await admin.post('/admin/admins', { name: 'grace', nickname: '', password: PASSWORD }))
    const page = await open(t, 'tables/1')
    await page.getByLabel('Name').fill('grace')
    await page.getByLabel('Password').fill(PASSWORD)
    const refused = page.waitForResponse((response) => response.status() === 403)
    await page.getByRole('button', { name: 'Log in' }).click()
    const dialog = page.getByRole('dialog', { name: 'Choose a new password' })
    await dialog.waitFor()
    await refused
    t.equal(await dialog.getByRole('button', { name: 'Later' }).count(), 0)
    await page.keyboard.press('Escape')
    t.equal(await page.getByRole('alert').count(), 0, 'the dialog is all that is asked')
    await photographPage(page, 'password-required')
    await expectAccessible(t, page)
    await dialog.getByLabel('Present password').fill(PASSWORD)
    await dialog.getByLabel('New password').fill(NEW_PASSWORD)
    await dialog.getByRole('button', { name: 'Change the password' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'pets', exact: true }).waitFor()
  })

  t.test('a first password can be changed later if the service does not require it', async (t) => {
    const { open } = await startConsole(t, { hasFirstPassword: true })
    const page = await open(t, 'account')
    await page.getByLabel('Name').fill('admin')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Later' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  t.test('a log out is asked about while something is not saved, and works when the session has ended', async (t) => {
    const { admin, openAsAdmin } = await startConsole(t)
    await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
    dataOf(await admin.post('/admin/tables/1/data', { name: 'Tom' }))
    const page = await openAsAdmin(t, 'tables/1?record=1')
    await page.getByLabel('name', { exact: true }).fill('Kit')
    const logOut = async () => {
      await page.getByRole('button', { name: 'admin', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Log out' }).click()
    }
    await logOut()
    await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
    t.equal((await page.request.get(new URL('/auth/me', page.url()).href)).status(), 200)
    await page.request.post(new URL('/auth/logout', page.url()).href)
    await logOut()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Discard/ })
      .click()
    await page.getByRole('heading', { name: 'Log in to Rowhouse' }).waitFor()
  })
}

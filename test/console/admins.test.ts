import t from 'tap'
import { dataOf, PASSWORD } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { logIn, photographPage, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, open, openAsAdmin } = await startConsole(t)
  const admins = async (): Promise<{ name: string; nickname: string }[]> => dataOf(await admin.get('/admin/admins'))
  const create = (name: string) => admin.post('/admin/admins', { name, nickname: '', password: PASSWORD })

  t.test('the last administrator is not deleted', async (t) => {
    const page = await openAsAdmin(t, 'admins')
    await page.getByRole('button', { name: 'Delete admin' }).click()
    await page.getByRole('button', { name: 'Delete “admin”' }).click()
    await page.getByRole('alert').getByText('The last administrator cannot be deleted.').waitFor()
    t.equal((await admins()).length, 1)
  })

  t.test('a new administrator logs in with the password that is shown once', async (t) => {
    const page = await openAsAdmin(t, 'admins')
    await page.getByRole('button', { name: 'Add an administrator' }).click()
    await page.getByLabel('Name').fill('grace')
    await page.getByLabel('Shown as').fill('Grace Hopper')
    await page.getByRole('button', { name: 'Generate' }).click()
    await photographPage(page, 'admin-new')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('dialog', { name: 'The password of “grace”' }).waitFor()
    const password = (await page.getByRole('dialog').locator('code').textContent()) ?? ''
    await photographPage(page, 'admin-password')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /grace Grace Hopper must be changed/ }).waitFor()
    await photographPage(page, 'admins')
    await expectAccessible(t, page)

    const other = await open(t, 'account')
    await logIn(other, 'grace', password)
    await other.getByRole('heading', { name: 'Your account' }).waitFor()
  })

  t.test('a name that is taken, and a short password, are refused', async (t) => {
    const page = await openAsAdmin(t, 'admins')
    await page.getByRole('button', { name: 'Add an administrator' }).click()
    await page.getByLabel('Name').fill('ADMIN')
    await page.getByLabel('First password').fill('short')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText('A password must have at least 8 characters.').waitFor()
    await page.getByLabel('First password').fill('long enough')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText("There is an administrator named 'ADMIN' already.").waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  t.test('the password of another administrator is reset', async (t) => {
    await create('linus')
    const page = await openAsAdmin(t, 'admins')
    await page.getByRole('button', { name: 'Reset the password of linus' }).click()
    await page.getByLabel('New password').fill('a password of the reset')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByRole('dialog', { name: 'The password of “linus”' }).waitFor()
    await logIn(await open(t), 'linus', 'a password of the reset')
  })

  t.test('the dialog of a delete names the account', async (t) => {
    await create('old')
    const page = await openAsAdmin(t, 'admins')
    await page.getByRole('button', { name: 'Delete old' }).click()
    await page.getByRole('dialog', { name: 'Delete the administrator “old”?' }).waitFor()
    await photographPage(page, 'admin-delete')
    await page.getByRole('button', { name: 'Delete “old”' }).click()
    await page.getByText('The administrator “old” is deleted.').waitFor()
    await page.getByRole('button', { name: 'Delete old' }).waitFor({ state: 'detached' })
    t.notOk((await admins()).some(({ name }) => name === 'old'))
  })

  t.test('the own sessions are listed, and another one is ended', async (t) => {
    await create('rosa')
    const other = await open(t, 'account', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0' })
    await logIn(other, 'rosa')
    const page = await open(t, 'account')
    await logIn(page, 'rosa')
    const sessions = page.getByRole('table', { name: 'Sessions' })
    await sessions.getByText('Firefox on Linux').waitFor()
    await sessions.getByText('Chrome on Linux (this one)').waitFor()
    await photographPage(page, 'sessions')
    await expectAccessible(t, page)
    t.equal(await sessions.getByRole('button').count(), 1, 'the session of this page has no button')
    await sessions.getByRole('button', { name: 'End the session of Firefox on Linux' }).click()
    await page.getByText('The session of Firefox on Linux has ended.').waitFor()
    await sessions.getByText('Firefox on Linux').waitFor({ state: 'detached' })
    await other.reload()
    await other.getByRole('heading', { name: 'Log in to Rowhouse' }).waitFor()
  })

  t.test('the own name, theme and password change, and one logs out', async (t) => {
    await create('ada')
    const page = await open(t, 'account')
    await logIn(page, 'ada')
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await photographPage(page, 'account')
    await expectAccessible(t, page)
    await page.getByLabel('Shown as').fill('Ada Lovelace')
    await page.getByRole('button', { name: 'Save the name' }).click()
    await page.getByRole('button', { name: 'Ada Lovelace' }).waitFor()
    t.ok((await admins()).some(({ nickname }) => nickname === 'Ada Lovelace'))

    await page.getByRole('radio', { name: 'Dark' }).check()
    await page.locator('html[data-theme=dark]').waitFor()

    await page.getByLabel('Present password').fill('not the password')
    await page.getByLabel('New password').fill('another password')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Present password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('The password is changed.').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in to Rowhouse' }).waitFor()
  })
}

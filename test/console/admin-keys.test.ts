import t from 'tap'
import { bearer, dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { app, admin, openAsAdmin } = await startConsole(t)
  const keys = async () => dataOf(await admin.get('/admin/keys'))

  t.test('an empty list says what an admin key is', async (t) => {
    const page = await openAsAdmin(t)
    await page.getByRole('navigation').getByRole('link', { name: 'Admin keys' }).click()
    await page.getByRole('heading', { name: 'There is no admin key yet.' }).waitFor()
    await photographPage(page, 'admin-keys-empty')
    await expectAccessible(t, page)
  })

  t.test('a new key shows its secret once, which opens its scopes', async (t) => {
    const page = await openAsAdmin(t, 'keys/new')
    await page.getByLabel('Name').fill('migrations')
    await page.getByRole('button', { name: 'Create the admin key' }).click()
    await page.getByText('Choose at least one scope.').waitFor()
    await page.getByLabel('tables:read', { exact: true }).check()
    await page.getByLabel('audit', { exact: true }).check()
    await page.getByLabel('audit', { exact: true }).uncheck()
    await page.getByRole('button', { name: '30 days' }).click()
    await photographPage(page, 'admin-key-new')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Create the admin key' }).click()
    await page.getByRole('heading', { name: '“migrations” is ready' }).waitFor()
    await photographPage(page, 'admin-key-issued')
    await expectAccessible(t, page)
    const secret = (await page.locator('code').filter({ hasText: /^rha_/ }).textContent()) ?? ''
    t.equal((await app.inject({ url: '/admin/tables', headers: bearer(secret) })).statusCode, 200)
    t.equal((await app.inject({ url: '/admin/audit', headers: bearer(secret) })).statusCode, 403)
    t.equal(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage }).includes("rha_")'), false)

    await page.getByRole('navigation').getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('dialog', { name: 'Leave without the key?' }).waitFor()
    await page.getByRole('button', { name: 'Stay here' }).click()
    await page.getByRole('link', { name: 'I have copied it' }).click()
    await page.getByRole('rowheader', { name: 'migrations', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'tables:read' }).waitFor()
    await photographPage(page, 'admin-keys')
    await expectAccessible(t, page)
    t.equal(await page.getByText(secret).count(), 0)
    const [stored] = await keys()
    t.match(stored, { name: 'migrations', scopes: ['tables:read'] })
    t.ok(stored.expires_at > Date.now())
  })

  t.test('an expiry in the past is refused at its field', async (t) => {
    const page = await openAsAdmin(t, 'keys/new')
    await page.getByLabel('Name').fill('late')
    await page.getByLabel('roles', { exact: true }).check()
    await page.getByLabel('Expires').fill('2001-02-03T04:05')
    await page.getByRole('button', { name: 'Create the admin key' }).click()
    await page.locator('input[type="datetime-local"][aria-invalid="true"]').waitFor()
    t.notOk((await keys()).some(({ name }: { name: string }) => name === 'late'))
  })

  t.test('a key is revoked after a question', async (t) => {
    dataOf(await admin.post('/admin/keys', { name: 'old script', scopes: ['audit'] }))
    const page = await openAsAdmin(t, 'keys')
    await page.getByRole('button', { name: 'Revoke old script' }).click()
    await page.getByRole('dialog', { name: 'Revoke the admin key “old script”?' }).waitFor()
    await page.getByRole('button', { name: 'Revoke “old script”' }).click()
    await page.getByText('The admin key “old script” is revoked.').waitFor()
    t.notOk((await keys()).some(({ name }: { name: string }) => name === 'old script'))
  })
}

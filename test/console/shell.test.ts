import t from 'tap'
import { createTable, dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t)
  const fields = [{ name: 'title', jsonType: 'string' as const }]
  await createTable(admin, { name: 'album', label: 'Our albums', fields })
  const { id } = await createTable(admin, { name: 'artist', fields })

  t.test('the command palette goes to a table and to a page', async (t) => {
    const page = await openAsAdmin(t)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Commands' }).waitFor()
    await page.getByRole('option', { name: 'Our albums', exact: true }).waitFor()
    await photographPage(page, 'palette')
    await expectAccessible(t, page)
    await page.keyboard.type('arti')
    await page.getByRole('option', { name: 'Our albums', exact: true }).waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'artist', level: 1 }).waitFor()
    t.match(page.url(), new RegExp(`/tables/${id}$`))

    await page.keyboard.press('Control+k')
    await page.keyboard.type('new tok')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'New token' }).waitFor()
    t.equal(await page.getByRole('dialog').count(), 0)

    await page.keyboard.press('Control+k')
    await page.keyboard.type('new rol')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'New role' }).waitFor()
  })

  t.test('the command palette changes the theme, and logs out', async (t) => {
    const page = await openAsAdmin(t)
    await page.getByRole('button', { name: 'Go to or do …' }).click()
    await page.getByRole('combobox', { name: 'Commands' }).fill('theme: dark')
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme=dark]').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Commands' }).fill('nothing has this name')
    await page.getByText('Nothing matches.').waitFor()
    await page.getByRole('combobox', { name: 'Commands' }).fill('log out')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Log in to Rowhouse' }).waitFor()
  })

  t.test('shortcuts of the page do nothing while a dialog is open over it', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}`)
    const palette = page.getByRole('dialog', { name: 'Commands' })
    await page.getByRole('button', { name: 'New record' }).first().click()
    await page.getByRole('dialog', { name: 'New record in artist' }).waitFor()
    await page.keyboard.press('Control+k')
    await palette.waitFor()
    await page.keyboard.press('Control+k')
    await palette.waitFor({ state: 'detached' })
    await page.getByLabel('title', { exact: true }).fill('not saved')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Filter records' })
    await dialog.getByRole('button', { name: 'Apply' }).focus()
    for (const key of ['Control+k', 'Control+s', '?', '/']) await page.keyboard.press(key)
    // Each key was handled before this click.
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.equal(await palette.count(), 0)
    t.equal(await page.getByRole('dialog', { name: 'Shortcuts' }).count(), 0)
    t.equal(dataOf(await admin.get(`/admin/tables/${id}/data`)).total, 0)
    await page.getByLabel('title', { exact: true }).focus()
    await page.keyboard.press('Control+s')
    await page.getByText('Created artist 1').first().waitFor()
  })

  t.test('a question mark shows the shortcuts, but not in a text field', async (t) => {
    const page = await openAsAdmin(t, 'tokens')
    await page.keyboard.press('/')
    await page.keyboard.type('al?')
    t.equal(await page.getByRole('searchbox', { name: 'Filter tables' }).inputValue(), 'al?')
    t.equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('heading', { name: 'Tokens', exact: true }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
    await photographPage(page, 'shortcuts')
    await expectAccessible(t, page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  t.test('a narrow screen has a menu of the tables', async (t) => {
    const page = await openAsAdmin(t, 'tokens', { viewport: { width: 390, height: 800 } })
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('link', { name: 'artist' }).waitFor()
    await photographPage(page, 'menu-390')
    await page.getByRole('link', { name: 'artist' }).click()
    await page.getByRole('heading', { name: 'artist', level: 1 }).waitFor()
    t.equal(await page.getByRole('link', { name: 'Our albums' }).isVisible(), false)
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('button', { name: 'Close the menu' }).click({ position: { x: 380, y: 400 } })
    t.equal(await page.getByRole('link', { name: 'Our albums' }).isVisible(), false)
    await page.keyboard.press('/')
    await page.keyboard.type('art')
    t.equal(await page.getByRole('searchbox', { name: 'Filter tables' }).inputValue(), 'art')
  })

  t.test('a text is copied without a clipboard of the browser', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}/api`)
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByText('Copied').waitFor()
    await page.getByRole('searchbox', { name: 'Filter tables' }).focus()
    await page.keyboard.press('Control+v')
    t.match(await page.getByRole('searchbox', { name: 'Filter tables' }).inputValue(), /^curl /)
  })
}

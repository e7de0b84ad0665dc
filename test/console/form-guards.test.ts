import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase } from '../fixtures.ts'
import { createTable, dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { holdResponse, photographPage, skip, startConsole } from './console.ts'

const QUESTION = 'Discard the unsaved changes?'

const question = (page: Page) => page.getByRole('dialog', { name: QUESTION })
const stay = (page: Page) => page.getByRole('button', { name: 'Stay here' }).click()
const discard = (page: Page) => page.getByRole('button', { name: 'Discard' }).click()
const goToTokens = (page: Page) => page.getByRole('navigation').getByRole('link', { name: 'Tokens' }).click()
const onTokens = (page: Page) => page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()

/** Leaves by a link: first stays, then discards. */
const expectGuarded = async (page: Page) => {
  await goToTokens(page)
  await question(page).waitFor()
  await stay(page)
  await question(page).waitFor({ state: 'detached' })
}

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const database = createDatabase(t, 'CREATE TABLE stored (id INTEGER PRIMARY KEY, name TEXT)')
  const { admin, openAsAdmin } = await startConsole(t, { database })
  const fields = [{ name: 'title', jsonType: 'string' as const }]
  const { id } = await createTable(admin, { name: 'album', fields })
  const names = async (): Promise<string[]> =>
    dataOf(await admin.get('/admin/tables')).map(({ name }: { name: string }) => name)

  t.test('a new table is not lost by a link, nor by the back button', async (t) => {
    const page = await openAsAdmin(t, 'tokens')
    await page.getByRole('link', { name: 'New table' }).click()
    await goToTokens(page)
    await onTokens(page)
    await page.getByRole('link', { name: 'New table' }).click()
    await page.getByLabel('Name of field 2').fill('title')
    await expectGuarded(page)
    t.equal(await page.getByLabel('Name of field 2').inputValue(), 'title')
    await page.goBack()
    await question(page).waitFor()
    await photographPage(page, 'form-guard')
    await expectAccessible(t, page)
    await stay(page)
    await page.goBack()
    await discard(page)
    await onTokens(page)
  })

  t.test('a created table opens without a question', async (t) => {
    const page = await openAsAdmin(t, 'tables/new')
    await page.getByLabel('Name', { exact: true }).fill('artist')
    await page.getByLabel('Name of field 2').fill('name')
    await page.getByRole('button', { name: 'Create artist' }).click()
    await page.getByRole('heading', { name: 'artist', level: 1 }).waitFor()
    t.equal(await question(page).count(), 0)
  })

  t.test('a table that is created after its page was left does not open', async (t) => {
    const page = await openAsAdmin(t, 'tables/new')
    await page.getByLabel('Name', { exact: true }).fill('late')
    await page.getByLabel('Name of field 2').fill('name')
    const { handled, release } = await holdResponse(page, 'POST', '**/admin/tables')
    await page.getByRole('button', { name: 'Create late' }).click()
    await handled
    await goToTokens(page)
    await discard(page)
    await onTokens(page)
    release()
    await page.getByRole('navigation').getByRole('link', { name: 'late' }).waitFor()
    t.match(page.url(), /\/tokens$/)
    t.ok((await names()).includes('late'))
  })

  t.test('pasted rows, choices of an import and settings are not lost by a link', async (t) => {
    const page = await openAsAdmin(t, 'tables/from-file')
    await page.getByLabel('Or paste the rows').fill('a,b\n1,2\n')
    await expectGuarded(page)
    t.equal(await page.getByLabel('Or paste the rows').inputValue(), 'a,b\n1,2\n')
    await page.getByRole('link', { name: 'Import existing tables' }).click()
    await discard(page)

    await page.getByLabel('Choose stored').check()
    await expectGuarded(page)
    t.equal(await page.getByLabel('Choose stored').isChecked(), true)
    await page.getByLabel('Choose stored').uncheck()
    await page.getByRole('navigation').getByRole('link', { name: 'album' }).click()
    await page.getByRole('link', { name: 'Structure' }).click()

    await page.getByLabel('Label', { exact: true }).fill('Albums')
    await expectGuarded(page)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings of Albums are saved.').waitFor()
    await goToTokens(page)
    await onTokens(page)
  })

  t.test('a wide dialog asks before Escape closes it, if something was entered', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}/structure`)
    await page.getByRole('button', { name: 'Add a field' }).click()
    const name = page.getByLabel('Name of field 1')
    await name.focus()
    await page.keyboard.press('Escape')
    await name.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add a field' }).click()
    await name.fill('price')
    await page.keyboard.press('Escape')
    await question(page).waitFor()
    await page.keyboard.press('Escape')
    await question(page).waitFor({ state: 'detached' })
    t.equal(await name.inputValue(), 'price')
    await name.focus()
    await page.keyboard.press('Escape')
    await discard(page)
    await name.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Edit title' }).click()
    await page.getByRole('dialog').getByLabel('Label').fill('Title')
    await page.keyboard.press('Escape')
    await question(page).waitFor()
    await discard(page)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  t.test('Cancel asks, too, if something was entered', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}/structure`)
    const dialog = page.getByRole('dialog').first()
    const cancel = () => dialog.getByRole('button', { name: 'Cancel' }).first().click()
    const expectAsked = async (open: string, enter: () => Promise<unknown>) => {
      await page.getByRole('button', { name: open }).click()
      await enter()
      await cancel()
      await question(page).waitFor()
      await discard(page)
      await page.getByRole('dialog').first().waitFor({ state: 'detached' })
    }
    await expectAsked('Add a field', () => page.getByLabel('Name of field 1').fill('price'))
    await expectAsked('Edit title', () => dialog.getByLabel('Label').fill('Title'))
    await expectAsked('Create an index', () => dialog.getByLabel('Field 1').selectOption('title'))
    await page.goto(new URL('/console/admins', page.url()).href)
    await expectAsked('Add an administrator', () => dialog.getByLabel('Name').fill('grace'))
    await page.getByRole('button', { name: 'Add an administrator' }).click()
    await cancel()
    await dialog.waitFor({ state: 'detached' })
    t.equal(await question(page).count(), 0)
  })
}

import type { Page } from 'playwright-core'
import t from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { holdResponse, skip, startConsole } from './console.ts'

const SQL = `
  CREATE TABLE pens (id INTEGER PRIMARY KEY, code TEXT, secret TEXT, year TEXT);
  INSERT INTO pens VALUES (1, 'no number', 'no number', '1929');`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const hidden = ['secret', 'year'].map((name) => ({ name, isHidden: true }))
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'pens', fields: hidden }))
  const path = `tables/${id}/structure`
  const fieldOf = async (name: string) =>
    dataOf(await admin.get(`/admin/tables/${id}`)).fields.find((field: { name: string }) => field.name === name)

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })

  /** Opens the dialog of a field. */
  const openField = async (t: Parameters<typeof openAsAdmin>[0], name: string) => {
    const page = await openAsAdmin(t, path)
    await button(page, `Edit ${name}`).click()
    const open = dialog(page, `Edit ${name} of pens`)
    const type = open.getByLabel('Type')
    const isHidden = open.getByLabel('Hidden from tokens')
    const save = () => open.getByRole('button', { name: 'Save' }).click()
    const closed = () => open.waitFor({ state: 'detached' })
    return { open, type, isHidden, save, closed }
  }

  t.test('a field stays hidden if its column cannot be changed', async (t) => {
    const { open, type, isHidden, save, closed } = await openField(t, 'secret')
    await isHidden.uncheck()
    await type.selectOption('integer')
    await save()
    await open.getByText(/no number/).waitFor()
    t.match(await fieldOf('secret'), { isHidden: true, jsonType: 'string' })
    await isHidden.check()
    await type.selectOption('string')
    await save()
    await closed()
    t.match(await fieldOf('secret'), { isHidden: true, jsonType: 'string' })
  })

  t.test('a field is hidden first, and a choice that is saved already can be taken back', async (t) => {
    const { open, type, isHidden, save, closed } = await openField(t, 'code')
    await isHidden.check()
    await type.selectOption('integer')
    await save()
    await open.getByText(/The column is not changed/).waitFor()
    t.match(await fieldOf('code'), { isHidden: true, jsonType: 'string' })
    await isHidden.uncheck()
    await type.selectOption('string')
    await save()
    await closed()
    t.match(await fieldOf('code'), { isHidden: false, jsonType: 'string' })
  })

  t.test('a field with a new name and a new type is shown to tokens', async (t) => {
    const { open, type, isHidden, save, closed } = await openField(t, 'year')
    await isHidden.uncheck()
    await type.selectOption('integer')
    await open.getByLabel('Name', { exact: true }).fill('since')
    await save()
    await closed()
    t.match(await fieldOf('since'), { isHidden: false, jsonType: 'integer' })
  })

  t.test('a save that ends late leaves the next dialog open', async (t) => {
    const page = await openAsAdmin(t, path)
    const { release } = await holdResponse(page, 'PUT', '**/admin/tables/**')
    await button(page, 'Edit code').click()
    const first = dialog(page, 'Edit code of pens')
    await first.getByLabel('Label').fill('Article')
    await first.getByRole('button', { name: 'Save' }).click()
    await page.keyboard.press('Escape')
    await button(page, 'Discard').click()
    await button(page, 'Edit secret').click()
    const next = dialog(page, 'Edit secret of pens')
    await next.getByLabel('Label').fill('Secret')
    const read = page.waitForResponse((response) => response.url().endsWith(`/tables/${id}/indexes`))
    release()
    await read
    await page.getByRole('cell', { name: 'Article', exact: true, includeHidden: true }).waitFor()
    await next.getByRole('button', { name: 'Save' }).click()
    await next.waitFor({ state: 'detached' })
    t.match([await fieldOf('code'), await fieldOf('secret')], [{ label: 'Article' }, { label: 'Secret' }])
  })

  t.test('settings cannot be changed while they are saved', async (t) => {
    const page = await openAsAdmin(t, path)
    const { release } = await holdResponse(page, 'PUT', '**/admin/tables/**')
    const note = page.getByLabel('Note', { exact: true })
    await note.fill('first')
    await button(page, 'Save').click()
    await note.click({ force: true })
    await page.keyboard.type(' and more')
    t.equal(await note.inputValue(), 'first')
    release()
    await page.getByText('The settings of pens are saved.').waitFor()
    await note.fill('second')
    t.equal(await note.inputValue(), 'second')
  })

  t.test('a save without a network says so', async (t) => {
    const page = await openAsAdmin(t, path)
    await page.getByLabel('Note', { exact: true }).fill('offline')
    await page.context().setOffline(true)
    await button(page, 'Save').click()
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    await page.context().setOffline(false)
    await button(page, 'Save').click()
    await page.getByText('The settings of pens are saved.').waitFor()
    t.equal(dataOf(await admin.get(`/admin/tables/${id}`)).note, 'offline')
  })
}

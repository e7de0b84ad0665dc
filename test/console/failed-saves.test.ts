import type { Page, Route } from 'playwright-core'
import t, { type Test } from 'tap'
import { createDatabase, dataOf } from '../helpers.ts'
import { skip, startConsole } from './console.ts'
import { cell, enter, saved } from './grid.ts'

const SQL = `
  CREATE TABLE pens (id INTEGER PRIMARY KEY, name TEXT, note TEXT);
  INSERT INTO pens VALUES (1, 'Pelikan', 'old'), (2, 'Lamy', 'old'), (3, 'Kaweco', 'old');
  CREATE TABLE origins (id INTEGER PRIMARY KEY, name TEXT, country TEXT NOT NULL);
  INSERT INTO origins VALUES (1, 'Pelikan', 'DE');
  CREATE TABLE races (id INTEGER PRIMARY KEY, "constructor" TEXT, "toString" TEXT);`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t, { database: createDatabase(t, SQL) })
  const pens = dataOf(await admin.post('/admin/tables/import', { name: 'pens' })).id
  const fields = [{ name: 'country', isReadonly: true }]
  const origins = dataOf(await admin.post('/admin/tables/import', { name: 'origins', fields })).id

  const read = async (pk: number) => dataOf(await admin.get(`/admin/tables/${pens}/data/${pk}`))
  const total = async (name: string) => {
    const filter = encodeURIComponent(JSON.stringify({ where: { name: { eq: name } } }))
    return dataOf(await admin.get(`/admin/tables/${pens}/data?filter=${filter}`)).total
  }
  const note = (page: Page) => page.getByLabel('note', { exact: true })
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const alert = (page: Page, text: RegExp) => page.getByRole('alert').filter({ hasText: text }).first().waitFor()
  const notice = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()

  const openPen = async (t: Test, pk: number) => {
    const page = await openAsAdmin(t, `tables/${pens}?record=${pk}`)
    await note(page).waitFor()
    return page
  }

  /** The service handles the first requests that match, but their responses are lost. */
  const loseFirst = async (page: Page, url: RegExp, method = 'POST') => {
    let count = 0
    await page.route(url, async (route: Route) => {
      if (route.request().method() !== method || count > 0) return route.continue()
      count += 1
      await route.fetch()
      return route.abort()
    })
  }

  /** Reads of a record fail until `pass` is called. */
  const failReads = async (page: Page, pk: number) => {
    const url = new RegExp(`/data/${pk}$`)
    await page.route(url, (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()))
    return { pass: () => page.unroute(url) }
  }

  t.test('a refusal for a field without an editor is shown', async (t) => {
    const page = await openAsAdmin(t, `tables/${origins}?new=true`)
    await page.getByLabel('name', { exact: true }).fill('Lamy')
    await button(page, 'Create').click()
    await alert(page, /country/)
  })

  t.test('a conflict whose record cannot be read is shown as a failure', async (t) => {
    const page = await openPen(t, 1)
    await note(page).fill('mine')
    await failReads(page, 1)
    dataOf(await admin.put(`/admin/tables/${pens}/data/1`, { note: 'theirs' }))
    await button(page, 'Save').click()
    await alert(page, /cannot be reached/)
    t.equal(await note(page).inputValue(), 'mine')
    t.match(await read(1), { note: 'theirs' })
  })

  t.test('a stored record is reported as saved, even if it cannot be read again', async (t) => {
    const page = await openPen(t, 2)
    await note(page).fill('first')
    const { pass } = await failReads(page, 2)
    await button(page, 'Save').click()
    await notice(page, 'Saved pens 2')
    t.match(await read(2), { note: 'first' })
    await alert(page, /cannot be reached/)
    await pass()
    await button(page, 'Try again').click()
    await note(page).fill('second')
    const written = page.waitForResponse((response) => response.request().method() === 'PUT')
    await button(page, 'Save').click()
    t.equal((await written).status(), 200)
    t.match(await read(2), { note: 'second' })
  })

  t.test('a record without an ETag cannot be changed, and a weak one is enough', async (t) => {
    const withTag = (change: (etag: string) => string) => async (route: Route) => {
      const response = await route.fetch()
      const { etag, ...headers } = response.headers()
      const changed = change(etag ?? '')
      await route.fulfill({ response, headers: changed === '' ? headers : { ...headers, etag: changed } })
    }
    const none = await openAsAdmin(t, `tables/${pens}`)
    await none.route(
      /\/data\/3$/,
      withTag(() => '')
    )
    await none.getByRole('button', { name: 'Open record of row 3 (Ctrl+Enter)' }).click()
    await alert(none, /has no ETag/)

    const weak = await openAsAdmin(t, `tables/${pens}`)
    await weak.route(/\/data\/3$/, (route) =>
      route.request().method() === 'GET' ? withTag((etag) => `W/${etag}`)(route) : route.continue()
    )
    await weak.getByRole('button', { name: 'Open record of row 3 (Ctrl+Enter)' }).click()
    await note(weak).fill('new')
    await button(weak, 'Save').click()
    await notice(weak, 'Saved pens 3')
    t.match(await read(3), { note: 'new' })
  })

  t.test('a record whose response is lost is created once', async (t) => {
    const page = await openAsAdmin(t, `tables/${pens}?new=true`)
    await page.getByLabel('name', { exact: true }).fill('once')
    await loseFirst(page, /\/data$/)
    await button(page, 'Create').click()
    await alert(page, /cannot be reached/)
    t.equal(await total('once'), 1)
    await button(page, 'Create').click()
    await page.getByRole('dialog', { name: /^pens \d+$/ }).waitFor()
    t.equal(await total('once'), 1)
  })

  t.test('another record after a lost response is another one', async (t) => {
    const page = await openAsAdmin(t, `tables/${pens}?new=true`)
    await page.getByLabel('name', { exact: true }).fill('lost')
    await loseFirst(page, /\/data$/)
    await button(page, 'Create').click()
    await alert(page, /cannot be reached/)
    await page.getByLabel('name', { exact: true }).fill('edited')
    await button(page, 'Create').click()
    await page.getByRole('dialog', { name: /^pens \d+$/ }).waitFor()
    t.strictSame([await total('lost'), await total('edited')], [1, 1])
  })

  t.test('a change whose response is lost does not conflict with itself', async (t) => {
    const page = await openPen(t, 3)
    await note(page).fill('stored')
    await loseFirst(page, /\/data\/3/, 'PUT')
    await button(page, 'Save').click()
    await alert(page, /cannot be reached/)
    t.match(await read(3), { note: 'stored' })
    await button(page, 'Save').click()
    await notice(page, 'Saved pens 3')
    t.equal(await page.getByRole('dialog', { name: /has changed/ }).count(), 0)
  })

  t.test('a cell whose response is lost does not conflict with itself', async (t) => {
    const page = await openAsAdmin(t, `tables/${pens}`)
    await loseFirst(page, /\/data\/1/, 'PUT')
    await enter(page, 'Pelikan', 'Pilot')
    await alert(page, /cannot be reached/)
    t.match(await read(1), { name: 'Pilot' })
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'name' }).press('Enter')
    await cell(page, 'Pilot').or(page.getByRole('dialog')).first().waitFor()
    await saved(page)
    t.equal(await page.getByRole('dialog').count(), 0)
  })

  t.test('pasted rows whose response is lost are created once', async (t) => {
    const page = await openAsAdmin(t, `tables/${pens}`)
    await button(page, 'Import').waitFor()
    await loseFirst(page, /\/batch$/)
    await page.evaluate(`{
      const data = new DataTransfer()
      data.setData('text/plain', 'name\\tnote\\npasted\\ta\\npasted\\tb')
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    }`)
    await button(page, 'Create 2 records').click()
    await alert(page, /cannot be reached/)
    t.equal(await total('pasted'), 2)
    await button(page, 'Create 2 records').click()
    await notice(page, '2 records created in pens')
    t.equal(await total('pasted'), 2)
  })

  t.test('fields named like properties of all objects stay empty', async (t) => {
    const races = dataOf(await admin.post('/admin/tables/import', { name: 'races' })).id
    const page = await openAsAdmin(t, `tables/${races}?new=true`)
    await page.getByLabel('toString', { exact: true }).fill('text')
    await button(page, 'Create').click()
    await notice(page, 'Created races 1')
    t.same(dataOf(await admin.get(`/admin/tables/${races}/data/1`)), { id: 1, constructor: null, toString: 'text' })
  })
}

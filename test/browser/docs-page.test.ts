import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { asAdmin, createTable, issueToken, startApp } from '../helpers.ts'
import { createPages, photograph, skip } from './chromium.ts'

const app = await startApp(t)
const admin = await asAdmin(app)
await createTable(admin, { name: 'products', fields: [{ name: 'title', jsonType: 'string' }] })
await createTable(admin, { name: 'secrets', fields: [{ name: 'text', jsonType: 'string' }] })
const token = await issueToken(admin, { tables: ['products'], actions: ['read'] })
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const openPage = createPages(t)

const openDocs = async (t: Test) => {
  const page = await openPage(t, `${url}/docs`)
  await page.getByText('/admin/tokens').first().waitFor()
  return page
}

const submit = async (page: Page, value: string) => {
  await page.getByLabel('Token', { exact: true }).fill(value)
  await page.getByRole('button', { name: 'Show its document' }).click()
}

t.test('GET /docs shows all calls', { skip }, async (t) => {
  const page = await openDocs(t)
  t.equal(await page.locator('.opblock-summary-path[data-path="/data/{table}"]').count(), 1)
  t.equal(await page.getByText('/data/products').count(), 0)
  await photograph(page, 'all-calls')
})

t.test('GET /docs shows the document of a token, and only that', { skip }, async (t) => {
  const page = await openDocs(t)
  await submit(page, ` ${token} `)
  await page.locator('.opblock-summary-path[data-path="/data/products"]').waitFor()
  t.equal(await page.locator('.opblock-summary-path[data-path="/data/{table}"]').count(), 0)
  t.notMatch(await page.content(), /secrets|\/admin\/tokens/)
  t.match(await page.locator('.token output').textContent(), 'The document of one token.')
  t.match(await page.locator('.info .title').textContent(), /^Rowhouse: test/)
  await photograph(page, 'token')
  await page.getByRole('button', { name: 'Show all calls' }).click()
  await page.getByText('/admin/tokens').first().waitFor()
  t.equal(await page.locator('.opblock-summary-path[data-path="/data/products"]').count(), 0)
})

t.test('a call from /docs is sent with the token', { skip }, async (t) => {
  const page = await openDocs(t)
  await submit(page, token)
  await page.locator('.opblock-summary-path[data-path="/data/_me"]').click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  const sent = page.waitForResponse((response) => response.url() === `${url}/data/_me`)
  await page.getByRole('button', { name: 'Execute' }).click()
  t.equal((await sent).status(), 200)
})

t.test('the token is stored nowhere, and a new page does not have it', { skip }, async (t) => {
  const page = await openDocs(t)
  await submit(page, token)
  await page.locator('.opblock-summary-path[data-path="/data/products"]').waitFor()
  t.equal(await page.getByLabel('Token', { exact: true }).inputValue(), '')
  t.notMatch(page.url(), token)
  t.strictSame(await page.context().storageState({ indexedDB: true }), { cookies: [], origins: [] })
  t.equal(await page.evaluate('sessionStorage.length'), 0)
  await page.reload()
  await page.getByText('/admin/tokens').first().waitFor()
  t.equal(await page.getByText('/data/products').count(), 0)
})

t.test('a token that the service refuses leaves the page as it is, with a sentence', { skip }, async (t) => {
  const page = await openDocs(t)
  await submit(page, `rh_${'0'.repeat(64)}`)
  await page.getByText('The document cannot be shown.').waitFor()
  t.match(await page.locator('.token output').textContent(), /The document cannot be shown\. .*token/)
  t.ok((await page.getByText('/admin/tokens').count()) > 0)
})

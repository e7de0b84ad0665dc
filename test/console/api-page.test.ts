import t from 'tap'
import { createDatabase, createTable, dataOf, issueToken } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

const LARGE = '9007199254740993'

const KEYS = `CREATE TABLE line (a TEXT, b INTEGER, PRIMARY KEY (b, a)); INSERT INTO line VALUES ('x', 7)`

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, url, openAsAdmin } = await startConsole(t, { database: createDatabase(t, KEYS) })
  const line = dataOf(await admin.post('/admin/tables/import', { name: 'line' })).id
  const { id } = await createTable(admin, {
    name: 'albums',
    fields: [
      { name: 'title', jsonType: 'string', nullable: false },
      { name: 'plays', jsonType: 'integer' }
    ]
  })
  const records = async () => dataOf(await admin.get(`/admin/tables/${id}/data`)).rows
  await admin.post(`/admin/tables/${id}/data`, { title: "It's", plays: LARGE })

  t.test('each call of a table is shown with its names, in four languages', async (t) => {
    const page = await openAsAdmin(t, `tables/${id}/api`)
    await page.getByText(`curl '${url}/data/albums?page=1&size=20'`).waitFor()
    await page.getByText(`curl '${url}/data/albums/records/1'`).first().waitFor()
    t.equal(await page.getByRole('heading', { level: 3 }).count(), 12)
    await photographPage(page, 'api-page')
    await expectAccessible(t, page)
    for (const [language, text] of [
      ['TypeScript', 'const response = await fetch("http'],
      ['Python', 'urllib.request.Request('],
      ['Go', 'http.NewRequest("GET", "http']
    ] as const) {
      await page.getByRole('radio', { name: language }).check()
      await page
        .getByRole('region', { name: `List, ${language}` })
        .getByText(text)
        .waitFor()
    }
    await page.getByRole('link', { name: 'Export' }).click()
    t.match(page.url(), /\/api$/)
  })

  t.test('a call is tried with a token, and nothing stores the token', async (t) => {
    const token = await issueToken(admin, { tables: ['albums'], actions: ['read', 'create'] })
    const page = await openAsAdmin(t, `tables/${id}/api`)
    await page.getByRole('button', { name: 'Try it: List' }).click()
    t.equal(await page.getByRole('button', { name: 'Send' }).isDisabled(), true)
    await page.getByLabel('Token for “Try it”').fill(token)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/^200 OK · \d+ ms$/).waitFor()
    await page.getByRole('region', { name: 'Response' }).getByText(LARGE).waitFor()
    await photographPage(page, 'api-page-tried')
    await expectAccessible(t, page)

    await page.getByRole('button', { name: 'Try it: Create' }).click()
    await page.getByLabel('Body').fill('{"title": "tried"}')
    await page.getByRole('button', { name: 'Send, and change albums' }).click()
    await page
      .getByRole('region', { name: 'Create', exact: true })
      .getByText(/^200 OK/)
      .waitFor()
    t.match(await records(), [{ title: "It's" }, { title: 'tried' }])
    t.equal(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage }).includes("rh_")'), false)
  })

  t.test('the beginning of a large export is shown, and an address outside the data is refused', async (t) => {
    const table = await createTable(admin, { name: 'large', fields: [{ name: 'text', jsonType: 'string' }] })
    const text = 'x'.repeat(60_000)
    for (const _ of [1, 2, 3]) dataOf(await admin.post(`/admin/tables/${table.id}/data`, { text }))
    const token = await issueToken(admin, { tables: ['large'], actions: ['read'] })
    const page = await openAsAdmin(t, `tables/${table.id}/api`)
    await page.getByLabel('Token for “Try it”').fill(token)
    await page.getByRole('button', { name: 'Try it: Export' }).click()
    const address = page.getByLabel('Address')
    const send = page.getByRole('button', { name: 'Send' })
    await address.fill('/data/large/../../admin/tables')
    await page.getByText('The address must begin with /data/.').waitFor()
    t.equal(await send.isDisabled(), true)
    await address.fill('/data/large/export?filter={"where":{"text":{"ne":".."}}}')
    await send.click()
    await page.getByText('only the first 100,000 characters are shown').waitFor()
    const shown = (await page.getByRole('region', { name: 'Response' }).textContent()) ?? ''
    t.ok(shown.length > 100_000 && shown.length < 100_200)
  })

  t.test('a refusal is shown as the program would see it, and does not end the session', async (t) => {
    const token = await issueToken(admin, { tables: ['albums'], actions: ['read'] })
    const page = await openAsAdmin(t, `tables/${id}/api`)
    await page.getByLabel('Token for “Try it”').fill(token)
    await page.getByRole('button', { name: 'Try it: Delete' }).click()
    const address = page.getByLabel('Address')
    t.equal(await address.inputValue(), '/data/albums/records/')
    await page.getByText('Enter the key of a record at the end of the address.').waitFor()
    t.equal(await page.getByRole('button', { name: 'Send, and delete from albums' }).isDisabled(), true)
    await address.fill('/data/albums/records/1')
    await page.getByRole('button', { name: 'Send, and delete from albums' }).click()
    await page.getByText(/^403 Forbidden/).waitFor()
    await page.getByLabel('Token for “Try it”').fill('rh_wrong')
    await page.getByRole('button', { name: 'Send, and delete from albums' }).click()
    await page.getByText(/^401 Unauthorized/).waitFor()
    t.equal(await page.getByRole('dialog').count(), 0)
    t.equal((await records())[0].title, "It's")
  })

  t.test('no preset of “Try it” changes a stored record', async (t) => {
    const token = await issueToken(admin, { tables: ['albums'], actions: ['write'] })
    const page = await openAsAdmin(t, `tables/${id}/api`)
    await page.getByLabel('Token for “Try it”').fill(token)
    for (const name of ['Update', 'Increment', 'Delete']) {
      const section = page.getByRole('region', { name, exact: true })
      await section.getByRole('button', { name: `Try it: ${name}` }).click()
      await section.getByText(/^Enter the key of a record/).waitFor()
      t.equal(await section.getByRole('button', { name: /^Send, and/ }).isDisabled(), true)
    }
    await photographPage(page, 'api-page-presets')
    const increment = page.getByRole('region', { name: 'Increment', exact: true })
    await increment.getByLabel('Body').fill('{"pk": "2", "field": "plays", "count": 1}')
    await increment.getByRole('button', { name: 'Send, and change albums' }).click()
    await increment.getByText(/^\d{3} /).waitFor()
  })

  t.test('a key of several fields is in the order of the key, not of the columns', async (t) => {
    const page = await openAsAdmin(t, `tables/${line}/api`)
    await page.getByText(`curl '${url}/data/line/records/7,x'`).first().waitFor()
    t.match(dataOf(await admin.get(`/admin/tables/${line}/data/7,x`)), { a: 'x', b: 7 })
  })

  t.test('names are shown as text, however odd or long', async (t) => {
    const label = `<img src=x onerror=alert(1)> \u202e\u05d0 ${'x'.repeat(150)}`
    const table = await createTable(admin, {
      name: `t${'y'.repeat(60)}`,
      label,
      fields: [{ name: 'a', jsonType: 'string' }]
    })
    const page = await openAsAdmin(t, `tables/${table.id}/api`)
    await page.getByRole('heading', { name: label }).waitFor()
    await page.getByRole('button', { name: 'Try it: Delete' }).click()
    await page.getByRole('button', { name: 'Send, and delete from <img' }).waitFor()
    await expectAccessible(t, page)
  })

  t.test('a table that is not published says so, and leads to a token', async (t) => {
    const table = await createTable(admin, { name: 'plain', fields: [{ name: 'a', jsonType: 'string' }] })
    await admin.put(`/admin/tables/${table.id}`, { isPublished: false })
    const page = await openAsAdmin(t, `tables/${table.id}/api`)
    await page.getByText('This table is not published').waitFor()
    await page.getByRole('link', { name: 'Create a token for plain' }).click()
    await page.getByRole('checkbox', { name: 'plain' }).waitFor()
    t.equal(await page.getByRole('checkbox', { name: 'plain' }).isChecked(), true)
  })
}

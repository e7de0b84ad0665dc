import t from 'tap'
import { bearer, createTable, dataOf } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { photographPage, skip, startConsole } from './console.ts'

const fields = [{ name: 'title', jsonType: 'string' as const }]

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { app, admin, openAsAdmin } = await startConsole(t)
  await createTable(admin, { name: 'album', fields })
  await createTable(admin, { name: 'artist', fields })
  const tokens = async () => dataOf(await admin.get('/admin/tokens'))

  const issue = async (name: string, actions: string[] = ['read']) =>
    dataOf(await admin.post('/admin/tokens', { name, permissions: { tables: ['album'], actions } }))

  t.test('an empty list says what to do next', async (t) => {
    const page = await openAsAdmin(t, 'tokens')
    await page.getByRole('heading', { name: 'There is no token yet.' }).waitFor()
    await photographPage(page, 'tokens-empty')
    await expectAccessible(t, page)
  })

  t.test('a new token shows its secret once, which works', async (t) => {
    const page = await openAsAdmin(t, 'tokens/new?table=album')
    await page.getByLabel('Name').fill('web shop')
    await page.getByRole('button', { name: '30 days' }).click()
    await page.getByRole('checkbox', { name: 'create' }).check()
    await page.getByText('This token may read and create records in album.').waitFor()
    await photographPage(page, 'token-new')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Create the token' }).click()
    await page.getByRole('heading', { name: '“web shop” is ready' }).waitFor()
    await page.getByText('Go', { exact: true }).click()
    await page.getByText('http.NewRequest("GET", "http').first().waitFor()
    await photographPage(page, 'token-issued')
    await expectAccessible(t, page)

    const secret =
      (await page
        .locator('code')
        .filter({ hasText: /^rh_[0-9a-f]{64}$/ })
        .textContent()) ?? ''
    const me = dataOf(await app.inject({ url: '/data/_me', headers: bearer(secret) }))
    t.match(me, { name: 'web shop', permissions: { tables: ['album'], actions: ['read', 'create'] } })
    t.ok(me.expires_at > Date.now())
    t.equal(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage }).includes("rh_")'), false)

    await page.getByRole('link', { name: 'I have copied it' }).click()
    await page.getByRole('link', { name: 'web shop' }).waitFor()
    await page.getByText('Read and create in album').waitFor()
    await photographPage(page, 'tokens')
    await expectAccessible(t, page)
    t.equal(await page.getByText(secret).count(), 0)
  })

  t.test('limits are edited, and a refused network is shown at its field', async (t) => {
    const { id } = await issue('limited')
    const page = await openAsAdmin(t, `tokens/${id}`)
    await page.getByLabel('Requests').fill('100')
    await page.getByLabel('In each').selectOption('hour')
    await page.getByLabel('Networks').fill('10.0.0.0/8\nshop.example')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText("'shop.example' is not an address").waitFor()
    await photographPage(page, 'token-limits')
    await expectAccessible(t, page)
    await page.getByLabel('Networks').fill('10.0.0.0/8\n\n 192.0.2.1 ')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The token “limited” is saved.').waitFor()
    const stored = async () => (await tokens()).find((token: { id: number }) => token.id === id)
    t.match(await stored(), {
      rate_limit: { requests: 100, seconds: 3600 },
      networks: ['10.0.0.0/8', '192.0.2.1'],
      permissions: { actions: ['read'] }
    })
    await page.getByRole('link', { name: 'limited' }).click()
    await page.getByLabel('Requests').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'limited' }).waitFor()
    t.match(await stored(), { rate_limit: undefined, networks: ['10.0.0.0/8', '192.0.2.1'] })
  })

  t.test('the new secret is shown once, and the previous one works until the overlap ends', async (t) => {
    const { id, token } = await issue('rotated')
    const page = await openAsAdmin(t, `tokens/${id}`)
    const rotate = async (overlap: string) => {
      await page.getByRole('button', { name: 'Replace secret' }).click()
      await page.getByLabel('The previous secret works').selectOption(overlap)
      await photographPage(page, 'token-rotate')
      await expectAccessible(t, page)
      await page.getByRole('button', { name: 'Replace the secret' }).click()
      await page.getByRole('heading', { name: '“rotated” is ready' }).waitFor()
      return (
        (await page
          .locator('code')
          .filter({ hasText: /^rh_[0-9a-f]{64}$/ })
          .textContent()) ?? ''
      )
    }
    const statusOf = async (secret: string) =>
      (await app.inject({ url: '/data/album', headers: bearer(secret) })).statusCode
    const first = await rotate('for one more day')
    t.strictSame([await statusOf(token), await statusOf(first)], [200, 200])
    await page.getByRole('link', { name: 'I have copied it' }).click()
    await page.getByRole('link', { name: 'rotated' }).click()
    await page.getByText(/^The previous secret works until .+\.$/).waitFor()
    const second = await rotate('not at all: it ends now')
    t.strictSame([await statusOf(token), await statusOf(first), await statusOf(second)], [401, 401, 200])
  })

  t.test('a secret that is not copied is not lost without a question', async (t) => {
    const page = await openAsAdmin(t, 'tokens/new')
    const issueByForm = async (name: string) => {
      await page.getByLabel('Name').fill(name)
      await page.getByRole('button', { name: 'Create the token' }).click()
      await page.getByRole('heading', { name: `“${name}” is ready` }).waitFor()
    }
    const openByPalette = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Commands' }).fill('new token')
      await page.keyboard.press('Enter')
    }
    await issueByForm('first')
    await page.getByRole('navigation').getByRole('link', { name: 'Tokens' }).click()
    const question = page.getByRole('dialog', { name: 'Leave without the token?' })
    await question.waitFor()
    await photographPage(page, 'token-leave')
    await page.getByRole('button', { name: 'Stay here' }).click()
    await page.locator('code').filter({ hasText: /^rh_/ }).waitFor()

    await openByPalette()
    await page.getByRole('button', { name: 'Leave without it' }).click()
    await page.getByRole('heading', { name: 'New token' }).waitFor()

    await issueByForm('second')
    await page.getByRole('button', { name: 'Copy the token' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await openByPalette()
    await page.getByRole('heading', { name: 'New token' }).waitFor()
    t.equal(await page.getByLabel('Name').inputValue(), '')
    t.equal(await question.count(), 0)
  })

  t.test('an expiry in the past is refused at its field', async (t) => {
    const page = await openAsAdmin(t, 'tokens/new')
    await page.getByLabel('Name').fill('late')
    await page.getByLabel('Expires').fill('2001-02-03T04:05')
    await page.getByRole('button', { name: 'Create the token' }).click()
    await page.locator('input[type="datetime-local"][aria-invalid="true"]').waitFor()
    const sentence = (await page.getByLabel('Expires').getAttribute('aria-describedby')) ?? ''
    t.match(await page.locator(`[id="${sentence}"]`).textContent(), /future/)
    t.equal(await page.getByRole('alert').count(), 0, 'the error stands only at the field')
    t.notOk((await tokens()).some(({ name }: { name: string }) => name === 'late'))
  })

  t.test('the page of a token changes it, and keeps what it does not show', async (t) => {
    const { id } = await issue('robot', ['read', 'write'])
    const expiresAt = Date.now() + 123_456_789
    await admin.put(`/admin/tokens/${id}`, { expiresAt })
    const page = await openAsAdmin(t, `tokens/${id}`)
    await page.getByText('It may create and extend these tables.').waitFor()
    await page.getByRole('checkbox', { name: 'delete' }).uncheck()
    await page.getByRole('checkbox', { name: 'artist' }).check()
    await page.getByLabel('Integers in responses').selectOption('string')
    await photographPage(page, 'token')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The token “robot” is saved.').waitFor()
    const stored = (await tokens()).find((token: { id: number }) => token.id === id)
    t.match(stored, { integers: 'string', expires_at: expiresAt, permissions: { tables: ['album', 'artist'] } })
    t.strictSame(stored.permissions.actions, ['read', 'create', 'update', 'schema'])
  })

  t.test('a table that is not registered is shown as a warning', async (t) => {
    const warning = "There is no table 'later' now."
    const page = await openAsAdmin(t, 'tokens/new?table=later')
    await page.getByLabel('Name').fill('early')
    await page.getByRole('button', { name: 'Create the token' }).click()
    await page.getByRole('heading', { name: '“early” is ready' }).waitFor()
    await page.getByText(warning).waitFor()
    await page.getByRole('link', { name: 'I have copied it' }).click()
    await page.getByRole('link', { name: 'early' }).click()
    await page.getByRole('checkbox', { name: 'album' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The token “early” is saved.').waitFor()
    await page.getByText(warning).waitFor()
  })

  t.test('all tables are one choice', async (t) => {
    const { id } = await issue('everything')
    const page = await openAsAdmin(t, `tokens/${id}`)
    await page.getByRole('checkbox', { name: 'All tables' }).check()
    await page.getByText('This token may read records in all tables').waitFor()
    t.equal(await page.getByRole('checkbox', { name: 'album' }).isDisabled(), true)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The token “everything” is saved.').waitFor()
    const stored = (await tokens()).find((token: { id: number }) => token.id === id)
    t.strictSame(stored.permissions.tables, ['*'])
  })

  t.test('the switch and the dialog of the list pause and revoke a token', async (t) => {
    const { token } = await issue('old robot')
    const me = async () => (await app.inject({ url: '/data/_me', headers: bearer(token) })).statusCode
    t.equal(await me(), 200)
    const page = await openAsAdmin(t, 'tokens')
    const active = page.getByRole('switch', { name: 'old robot is active' })
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
    await active.click()
    await saved
    t.equal(await me(), 401)
    await page.getByRole('button', { name: 'Revoke old robot' }).click()
    await page.getByRole('dialog', { name: 'Revoke the token “old robot”?' }).waitFor()
    await photographPage(page, 'token-revoke')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Revoke “old robot”' }).click()
    await page.getByText('The token “old robot” is revoked.').waitFor()
    await page.getByRole('link', { name: 'old robot' }).waitFor({ state: 'detached' })
    t.notOk((await tokens()).some(({ name }: { name: string }) => name === 'old robot'))
  })

  const grants = [
    {
      tables: ['album'],
      actions: ['read'],
      rows: { where: { title: { in: { $claim: 'titles' } }, id: { gt: { $claim: 'after' } } } }
    }
  ]
  await admin.post('/admin/roles', { name: 'listener', grants })
  await admin.post('/admin/roles', { name: 'editor', grants: [{ tables: ['*'], actions: ['update'] }] })
  const issueWithRole = async (name: string, role: string, claims: object) =>
    dataOf(await admin.post('/admin/tokens', { name, role, claims }))
  const find = async (id: number) => (await tokens()).find((token: { id: number }) => token.id === id)
  const NOTHING = { tables: [], actions: [] }

  t.test('a new token gets a role, and values for its claims', async (t) => {
    const page = await openAsAdmin(t, 'tokens/new')
    await page.getByLabel('Name', { exact: true }).fill('radio')
    await page.getByText('Role', { exact: true }).click()
    await page.getByLabel('Role', { exact: true }).last().selectOption('listener')
    await page.getByText('The role uses the claims: titles, after.').waitFor()
    t.equal(await page.getByLabel('Name of claim 1').inputValue(), 'titles')
    await page.getByLabel('Type of claim 1').selectOption('texts')
    await page.getByLabel('Value of claim 1').fill('Blue\nLow, "high"\n')
    await page.getByLabel('Type of claim 2').selectOption('integer')
    await page.getByLabel('Value of claim 2').fill('7')
    await photographPage(page, 'token-role')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Create the token' }).click()
    await page.getByRole('heading', { name: '“radio” is ready' }).waitFor()
    await page.getByText('This token may do what the role “listener” allows').waitFor()
    await page.getByText('/data/album?size=5').first().waitFor()
    await photographPage(page, 'token-role-issued')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Copy the token' }).click()
    await page.getByRole('link', { name: 'I have copied it' }).click()
    await page.getByText('Role listener').waitFor()
    await page.getByText('titles: “Blue”, “Low, "high"”; after: 7').waitFor()
    await photographPage(page, 'tokens-role')
    await expectAccessible(t, page)
    const stored = (await tokens()).find(({ name }: { name: string }) => name === 'radio')
    t.match(stored, { role: 'listener', claims: { titles: ['Blue', 'Low, "high"'], after: 7 }, permissions: NOTHING })
  })

  t.test('a token with a role keeps what is not edited', async (t) => {
    const claims = { titles: ['a', 1], after: 5, spare: 'x', empty: '' }
    const { id } = await issueWithRole('careful', 'listener', claims)
    const page = await openAsAdmin(t, `tokens/${id}`)
    t.equal(await page.getByLabel('Type of claim 1').inputValue(), 'json')
    await page.getByRole('button', { name: 'Remove the claim titles' }).click()
    await page.getByText('The token has no claim titles. What needs it opens nothing.').waitFor()
    await page.getByRole('button', { name: 'Add the missing claims' }).click()
    await page.getByLabel('Type of claim 4').selectOption('json')
    await page.getByLabel('Value of claim 4').fill('["a", 1]')
    await page.getByLabel('Name', { exact: true }).fill('more careful')
    await page.getByLabel('Value of claim 1').fill('9')
    await page.getByRole('button', { name: 'Remove the claim spare' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The token “more careful” is saved.').waitFor()
    const stored = await find(id)
    t.match(stored, { name: 'more careful', role: 'listener', permissions: NOTHING })
    t.strictSame(stored.claims, { after: 9, empty: '', titles: ['a', 1] })
  })

  t.test('a token goes from permissions to a role, and back', async (t) => {
    const { id } = await issue('turncoat', ['read', 'create'])
    const page = await openAsAdmin(t, `tokens/${id}`)
    await page.getByText('Role', { exact: true }).click()
    await page.getByLabel('Role', { exact: true }).last().selectOption('editor')
    await page.getByText('The role uses no claim.').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The token “turncoat” is saved.').waitFor()
    t.match(await find(id), { role: 'editor', claims: {}, permissions: NOTHING })

    await page.getByRole('link', { name: 'turncoat' }).click()
    await page.getByText('Permissions', { exact: true }).click()
    await page.getByText('This token may do nothing yet: choose tables.').waitFor()
    await page.getByRole('checkbox', { name: 'artist' }).check()
    await page.getByRole('checkbox', { name: 'read' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Read in artist').waitFor()
    t.match(await find(id), { role: null, claims: {}, permissions: { tables: ['artist'], actions: ['read'] } })
  })

  t.test('a claim that is not valid is shown at its row', async (t) => {
    const page = await openAsAdmin(t, 'tokens/new?role=editor')
    await page.getByLabel('Name', { exact: true }).fill('wrong')
    await page.getByRole('button', { name: 'Claim', exact: true }).click()
    await page.getByRole('button', { name: 'Create the token' }).click()
    await page.getByText('Enter the name of the claim.').waitFor()
    await page.getByLabel('Name of claim 1').fill('a/b')
    await page.getByText('Enter a value, or remove the claim.').waitFor()
    await page.getByLabel('Value of claim 1').fill('12.5')
    await page.getByLabel('Type of claim 1').selectOption('integers')
    await page.getByText('Enter integers from').waitFor()
    await page.getByLabel('Type of claim 1').selectOption('json')
    await page.getByText('A claim is a text, an integer, or a list').waitFor()
    await page.getByLabel('Type of claim 1').selectOption('text')
    await page.getByLabel('Value of claim 1').fill('x'.repeat(1001))
    const refused = page.waitForResponse((response) => response.status() === 400)
    await page.getByRole('button', { name: 'Create the token' }).click()
    await refused
    await page.locator('[aria-label="Value of claim 1"][aria-invalid=true]').waitFor()
    t.equal(await page.getByRole('alert').count(), 0, 'the error stands only at the row')
    await photographPage(page, 'token-claim-refused')
    await expectAccessible(t, page)
    t.notOk((await tokens()).some(({ name }: { name: string }) => name === 'wrong'))
  })

  t.test('a name is shown as text, however odd or long', async (t) => {
    const name = `<img src=x onerror=alert(1)> \u202e\u05d0 ${'x'.repeat(60)}`
    const { id } = await issue(name)
    const page = await openAsAdmin(t, 'tokens')
    await page.getByRole('link', { name }).waitFor()
    await expectAccessible(t, page)
    await page.getByRole('button', { name: `Revoke ${name}` }).click()
    await page.getByRole('dialog', { name }).waitFor()
    await expectAccessible(t, page)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name }).click()
    await page.getByRole('heading', { name }).waitFor()
    t.match(page.url(), new RegExp(`/tokens/${id}$`))
    await expectAccessible(t, page)
  })

  t.test('the page of a token shows its use by day', async (t) => {
    const { id, token } = await issue('busy')
    const unused = await openAsAdmin(t, `tokens/${id}`)
    await unused.getByText('No request used the token in this time.').waitFor()
    const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
    const rows = Array.from({ length: 40 }, (_, n) => [
      id,
      day(2 * n + 1),
      1800 + 400 * Math.round(3 * Math.sin(n)),
      150 + 7 * n,
      n
    ])
    await app.database.write([
      {
        sql: `INSERT INTO _rowhouse_token_uses (token_id, day, requests, refused, failed)
          SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM temp.json_each(?)`,
        params: [JSON.stringify(rows)]
      }
    ])
    await app.inject({ url: '/data/album', headers: bearer(token) })
    await app.inject({ url: '/data/artist', headers: bearer(token) })
    const page = await openAsAdmin(t, `tokens/${id}`)
    const uses = page.getByRole('table', { name: 'Use in the last 90 days' })
    await uses.getByRole('row', { name: `${day(0)} 2 1 0` }).waitFor()
    await uses.getByRole('row', { name: `${day(1)} 1,800 150 0` }).waitFor()
    t.equal(await uses.getByRole('row').count(), 42, 'only days with use, and the names of the columns')
    await uses.scrollIntoViewIfNeeded()
    await photographPage(page, 'token-uses')
    await expectAccessible(t, page)
  })

  t.test('the list is searched, and shows more page by page', async (t) => {
    const many = Array.from({ length: 120 }, (_, n) => issue(`device ${n}`))
    await Promise.all(many)
    const page = await openAsAdmin(t, 'tokens')
    const rows = page.getByRole('table', { name: 'Tokens' }).locator('tbody tr')
    await rows.nth(99).waitFor()
    t.equal(await rows.count(), 100)
    await photographPage(page, 'tokens-many')
    await page.getByRole('button', { name: 'Show more' }).click()
    await rows.nth(119).waitFor()
    t.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0)

    const search = page.getByRole('searchbox', { name: 'Search by name, prefix or role' })
    await search.fill('DEVICE 11')
    await page.getByRole('link', { name: 'device 7', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'device 119' }).waitFor()
    t.equal(await rows.count(), 11)
    await expectAccessible(t, page)
    await search.fill('no such token')
    await page.getByRole('heading', { name: 'No token matches.' }).waitFor()
    await photographPage(page, 'tokens-none')
    await expectAccessible(t, page)
    await page.getByRole('button', { name: 'Show all tokens' }).click()
    await rows.nth(99).waitFor()
    t.equal(await search.inputValue(), '')
  })

  t.test('the path of a token that does not exist leads back to the list', async (t) => {
    const page = await openAsAdmin(t, 'tokens/999')
    await page.getByRole('heading', { name: 'There is no such token.' }).waitFor()
    await page.getByRole('link', { name: 'All tokens' }).waitFor()
    const odd = await openAsAdmin(t, 'tokens/abc')
    await odd.getByRole('heading', { name: 'There is no such token.' }).waitFor()
  })
}

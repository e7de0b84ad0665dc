import t from 'tap'
import { asAdmin, asToken, createTable, dataOf, expectError, startApp } from '../helpers.ts'

const app = await startApp(t, { env: { BODY_LIMIT: '3000000' } })
const admin = await asAdmin(app)

t.test('a page of large rows has the same content when a reader thread reads it', async (t) => {
  const { id } = await createTable(admin, { name: 'wide', fields: [{ name: 'text', jsonType: 'string' }] })
  for (const letter of 'abc') await admin.post(`/admin/tables/${id}/data`, { text: letter.repeat(700_000) })
  const page = async () => dataOf(await admin.get(`/admin/tables/${id}/data?size=3`))
  const first = await page()
  t.same(
    first.rows.map(({ text }: { text: string }) => text[0]),
    ['a', 'b', 'c']
  )
  t.same(await page(), first)
  t.equal(
    (await admin.get(`/admin/tables/${id}/export`)).body.length,
    2_100_000 + '"id","text"\r\n'.length + 3 * '1,""\r\n'.length
  )
})

t.test('a page of more than 8 MiB is refused with a hint', async (t) => {
  const token = await asToken(app, admin)
  const { id } = await createTable(admin, { name: 'docs', fields: [{ name: 'text', jsonType: 'string' }] })
  for (const letter of 'abcd') dataOf(await token.post('/data/docs/records', { text: letter.repeat(2_200_000) }))
  const refused = [
    await token.get('/data/docs'),
    await token.get('/data/docs?order=-text'),
    await admin.get(`/admin/tables/${id}/data`),
    await admin.get(`/admin/tables/${id}/export?page=1`)
  ]
  for (const response of refused) {
    expectError(t, response, 400, 'RESPONSE_TOO_LARGE')
    t.match(response.json().error.hint, /smaller `size`/)
  }
  for (const size of [1, 3]) {
    t.match(dataOf(await token.get(`/data/docs?size=${size}`)), { total: 4, size, rows: { length: size } })
    const { body } = await admin.get(`/admin/tables/${id}/export?size=${size}`)
    t.equal(body.length, '"id","text"\r\n'.length + size * (2_200_000 + '1,""\r\n'.length))
  }
  t.equal((await admin.get(`/admin/tables/${id}/export?page=9`)).body, '"id","text"\r\n')
})

t.test('the length of a default is limited', async (t) => {
  const withDefault = (defaultValue: unknown, jsonType: 'string' | 'array') =>
    admin.post('/admin/tables', { name: `t_${jsonType}`, label: '', fields: [{ name: 'f', jsonType, defaultValue }] })
  expectError(t, await withDefault('x'.repeat(3999), 'string'), 400, 'VALIDATION_FAILED', '/fields/0/defaultValue')
  expectError(t, await withDefault(['x'.repeat(4000)], 'array'), 400, 'VALIDATION_FAILED', '/fields/0/defaultValue')
  dataOf(await withDefault('x'.repeat(3998), 'string'))
})

t.test('an error lists at most 20 details', async (t) => {
  const { id } = await createTable(admin, { name: 'many', fields: [{ name: 'text', jsonType: 'string' }] })
  const body = Object.fromEntries(Array.from({ length: 19_999 }, (_, index) => [`unknown_${index}`, 1]))
  const response = await admin.post(`/admin/tables/${id}/data`, body)
  expectError(t, response, 400, 'VALIDATION_FAILED', '/unknown_0')
  t.equal(response.json().error.details.length, 20)
})

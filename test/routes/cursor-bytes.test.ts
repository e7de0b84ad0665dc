import t from 'tap'
import { asAdmin, asToken, type Client, createDatabase, importTable, startApp } from '../helpers.ts'

// F0 9F 98 and F0 9F 99 are the first three of four bytes of a character. JavaScript replaces them by one U+FFFD, which has
// three bytes too.
const file = createDatabase(
  t,
  `CREATE TABLE txt (id INTEGER PRIMARY KEY, s TEXT);
   INSERT INTO txt VALUES (1, CAST(x'F09F98' AS TEXT)), (2, CAST(x'F09F99' AS TEXT)), (3, 'a'), (4, CAST(x'F09F9861' AS TEXT));
   CREATE TABLE child (id INTEGER PRIMARY KEY, txt_id INTEGER REFERENCES txt);
   INSERT INTO child VALUES (1, 1), (2, 2), (3, 3), (4, 4);`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
await importTable(admin, 'txt')
await importTable(admin, 'child')
const token = await asToken(app, admin)

/** Returns the ids of all pages, or ends with the code of an error. */
const walk = async (by: Client, table: string, order: string) => {
  const ids: (number | string)[] = []
  for (let cursor: string | null = '', pages = 0; cursor !== null && pages < 12; pages += 1) {
    const response = await by.post(`/data/${table}/query`, { order, cursor, size: 1 })
    const body = response.json()
    if (response.statusCode !== 200) return [...ids, body.error.code]
    ids.push(...body.data.rows.map(({ id }: { id: number }) => id))
    cursor = body.data.next
  }
  return ids
}

for (const [table, field] of [
  ['txt', 's'],
  ['child', 'txt_id.s']
] as const) {
  for (const order of [field, `-${field}`]) {
    t.test(`${table} by ${order}: no record is skipped or repeated without an error`, async (t) => {
      const ids = await walk(token, table, order)
      const walked = ids.filter((id) => typeof id === 'number')
      t.equal(new Set(walked).size, walked.length, `no record repeats: ${ids}`)
      t.ok(walked.length === 4 || ids.at(-1) === 'VALIDATION_FAILED', `all records, or an error: ${ids}`)
    })
  }
}

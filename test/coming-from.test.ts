import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { temporaryDirectory } from './fixtures.ts'
import { asAdmin, asToken, dataOf, startApp } from './helpers.ts'
import { plainNode } from './plain-process.ts'

/** The requests in the right columns of the tables: method, address and body. */
const REQUEST = /\| `(GET|POST|PATCH|DELETE) (\/data\/[^` ]*)(?: (\{[^`]*\}))?`[^`|]*(?:`[^`]*`[^`|]*)*\|$/gm

t.test('the requests of the guide for users of other services succeed', async (t) => {
  const directory = temporaryDirectory(t)
  const [command, ...args] = [...plainNode(), resolve('examples/make-shop.js')]
  execFileSync(command, args, { cwd: directory })
  const app = await startApp(t, { env: { DATABASE: join(directory, 'shop.sqlite') } })
  const admin = await asAdmin(app)
  dataOf(await admin.post('/admin/tables/import', { names: ['*'] }))
  const token = await asToken(app, admin)
  const guide = readFileSync('docs/guides/coming-from.md', 'utf8')
  const requests = [...guide.matchAll(REQUEST)]
  const rows = guide.match(/^\| (?!---)/gm) ?? []
  t.equal(requests.length, rows.length - 4, 'each row but the four headers has one')
  for (const [, method = '', url = '', body] of requests) {
    const payload = body === undefined ? [] : [JSON.parse(body) as object]
    const send = token[method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete'] as typeof token.post
    const response = await send(url, ...(payload as [object]))
    t.equal(response.statusCode, 200, `${method} ${url}: ${response.body}`)
  }
})

import { readFileSync } from 'node:fs'
import t from 'tap'
import { asToken } from './helpers.ts'
import { startShopApp } from './shop-app.ts'

/** The requests in the right columns of the tables: method, address and body. */
const REQUEST = /\| `(GET|POST|PATCH|DELETE) (\/data\/[^` ]*)(?: (\{[^`]*\}))?`[^`|]*(?:`[^`]*`[^`|]*)*\|$/gm

t.test('the requests of the guide for users of other services succeed', async (t) => {
  const { app, admin } = await startShopApp(t)
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

import t from 'tap'
import { findConsole } from '../../../plugins/app/console.ts'
import { startApp, temporaryDirectory } from '../../helpers.ts'

const app = await startApp(t)
const asset = String(/src="\.\/(assets\/[^"]+\.js)"/.exec((await app.inject('/console/')).body)?.[1])

t.test('every path of the console gets its page, which may only load files of Rowhouse', async (t) => {
  for (const [path, base] of [
    ['', './'],
    ['tables', './'],
    ['tables/1?order=-id', '../'],
    ['tables/1/structure', '../../']
  ] as const) {
    const { statusCode, headers, body } = await app.inject(`/console/${path}`)
    t.equal(statusCode, 200, path)
    t.equal(headers['content-type'], 'text/html; charset=utf-8')
    t.equal(headers['cache-control'], 'private, no-store')
    t.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.match(body, `<head><base href="${base}">`)
    t.notMatch(body, /<script>|<style|style=|https?:/, 'no inline code, no files from elsewhere')
  }
})

t.test('assets never change, and are sent compressed', async (t) => {
  const accepted = (encoding: string) =>
    app.inject({ url: `/console/${asset}`, headers: { 'accept-encoding': encoding } })
  const plain = await accepted('identity')
  t.equal(plain.statusCode, 200)
  t.match(plain.headers['content-type'], 'javascript')
  for (const encoding of ['br', 'gzip']) {
    const { headers, rawPayload } = await accepted(encoding)
    t.match(headers, {
      'content-encoding': encoding,
      vary: 'Accept-Encoding',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': /javascript/,
      'x-content-type-options': 'nosniff'
    })
    t.ok(rawPayload.length < plain.rawPayload.length / 2, encoding)
  }
})

t.test('an asset that does not exist is 404, and no file beside the console is sent', async (t) => {
  for (const path of ['missing.js', '../../server.js', '..%2f..%2fserver.js', '%2e%2e/%2e%2e/server.js']) {
    const { statusCode, headers, body } = await app.inject(`/console/assets/${path}`)
    t.not(body.includes('createServer'), true, path)
    if (path === 'missing.js') t.match(JSON.parse(body), { success: false, error: { code: 'ROUTE_NOT_FOUND' } })
    t.ok(statusCode === 404 || headers['content-type'] === 'text/html; charset=utf-8', `${path}: ${statusCode} ${body}`)
  }
})

t.test('the address without a slash leads to the console, also below the prefix of a proxy', async (t) => {
  const response = await app.inject('/console')
  t.equal(response.statusCode, 302)
  t.equal(response.headers.location, 'console/')
})

t.test('a service whose console is not built does not start', async (t) => {
  t.throws(() => findConsole([temporaryDirectory(t)]), /npm run build/)
  t.type(findConsole(), 'string')
})

import { readFileSync } from 'node:fs'
import t from 'tap'
import type { ErrorCode } from '../schemas/error.ts'
import type { Permissions } from '../schemas/token.ts'
import { asToken, type Client, expectError } from './helpers.ts'
import { startShopApp } from './shop-app.ts'

/** A request in a line of the guide: method, address and body, and the error that it gets, if any. */
const REQUEST = /`(GET|POST|PUT|DELETE) (\/\S+?)(?: ([[{][^`]*))?`(?:[^`]*\bgets (\d{3})\s+`(\w+)`)?/g
const PERMISSIONS = /^```json\n(.*)\n```$/m
const JOBS = 8

/** Returns the sections of the chapter, without the breaks of lines within a list item. */
const jobsOf = (guide: string) => {
  const [, chapter = ''] = guide.split('\n## Permissions by example\n')
  const [examples = ''] = chapter.split('\n## ')
  return examples
    .split('\n### ')
    .slice(1)
    .map((text) => ({ title: text.split('\n', 1)[0] as string, text: text.replaceAll(/\n +/g, ' ') }))
}

const sendTo = async (client: Client, [, method = '', url = '', body]: RegExpMatchArray) => {
  const send = client[method.toLowerCase() as 'get' | 'post' | 'put' | 'delete']
  return send(url, ...(body === undefined ? [] : [JSON.parse(body) as object]))
}

t.test('each request in the permissions by example has the documented result', async (t) => {
  const { app, admin } = await startShopApp(t)
  const jobs = jobsOf(readFileSync('docs/guides/access.md', 'utf8'))
  t.equal(jobs.length, JOBS, 'the guide has these examples')

  for (const { title, text } of jobs) {
    const permissions = JSON.parse(String(PERMISSIONS.exec(text)?.[1])) as Permissions
    const token = await asToken(app, admin, permissions)
    const requests = [...text.matchAll(REQUEST)]
    t.ok(
      requests.some(([, , url, , , code]) => url?.startsWith('/data') && code === undefined),
      `${title}: allowed`
    )
    t.ok(
      requests.some(([, , , , , code]) => code !== undefined),
      `${title}: refused`
    )
    for (const request of requests) {
      const [, , url = '', , status, code] = request
      const response = await sendTo(url.startsWith('/admin') ? admin : token, request)
      if (code === undefined) t.equal(response.statusCode, 200, `${title}: ${url}: ${response.body}`)
      else expectError(t, response, Number(status), code as ErrorCode)
    }
  }
})

import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { ErrorCode } from '../schemas/error.ts'
import type { Permissions } from '../schemas/token.ts'
import { asToken, bearer, type Client, client, dataOf, expectError } from './helpers.ts'
import { startShopApp } from './shop-app.ts'

/** A request in a line of the guide: method, address and body, and the error that it gets, if any. */
const REQUEST = /`(GET|POST|PUT|DELETE) (\/\S+?)(?: ([[{][^`]*))?`(?:[^`]*\bgets (\d{3})\s+`(\w+)`)?/g
const PERMISSIONS = /^```json\n(.*)\n```$/m
const JOBS = 8

const ROLE = /^```json\n(.*?)\n```$/ms
const CLAIMS = /^Claims: `(.*)`$/m
const ROLES = 4

const guide = readFileSync('docs/guides/access.md', 'utf8')

/** Returns the sections of a chapter, without the breaks of lines within a list item. */
const jobsOf = (name: string) => {
  const [, chapter = ''] = guide.split(`\n## ${name}\n`)
  const [examples = ''] = chapter.split('\n## ')
  return examples
    .split('\n### ')
    .slice(1)
    .map((text) => ({ title: text.split('\n', 1)[0] as string, text: text.replaceAll(/\n +/g, ' ') }))
}

type Job = ReturnType<typeof jobsOf>[number]

const sendTo = async (client: Client, [, method = '', url = '', body]: RegExpMatchArray) => {
  const send = client[method.toLowerCase() as 'get' | 'post' | 'put' | 'delete']
  return send(url, ...(body === undefined ? [] : [JSON.parse(body) as object]))
}

/** Sends the requests of a section, and asserts the documented results: some succeed, some are refused. */
const sendAll = async (t: Test, { title, text }: Job, { admin, token }: { admin: Client; token: Client }) => {
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

t.test('each request in the permissions by example has the documented result', async (t) => {
  const { app, admin } = await startShopApp(t)
  const jobs = jobsOf('Permissions by example')
  t.equal(jobs.length, JOBS, 'the guide has these examples')
  for (const job of jobs) {
    const permissions = JSON.parse(String(PERMISSIONS.exec(job.text)?.[1])) as Permissions
    await sendAll(t, job, { admin, token: await asToken(app, admin, permissions) })
  }
})

t.test('each request in the roles by example has the documented result', async (t) => {
  const { app, admin } = await startShopApp(t)
  const jobs = jobsOf('Roles by example')
  t.equal(jobs.length, ROLES, 'the guide has these examples')
  for (const job of jobs) {
    const role = dataOf(await admin.post('/admin/roles', JSON.parse(String(ROLE.exec(job.text)?.[1])) as object))
    t.strictSame(role.warnings, [])
    const claims = JSON.parse(String(CLAIMS.exec(job.text)?.[1]))
    const { token } = dataOf(await admin.post('/admin/tokens', { name: job.title, role: role.name, claims }))
    await sendAll(t, job, { admin, token: client(app, bearer(token)) })
  }
})

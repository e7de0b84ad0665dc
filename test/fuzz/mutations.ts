import { METHODS } from 'node:http'
import { type Draft, spoil } from './draft.ts'
import type { Random } from './random.ts'
import { nastyString, nastyValue } from './values.ts'

type Mutation = (draft: Draft, random: Random) => Partial<Draft>

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

const ENCODINGS = [
  '%00',
  '%2F',
  '%2e%2e',
  '%zz',
  '%',
  '%ff',
  '%C3%28',
  '%ED%A0%80',
  '%u0041',
  '%25',
  '+',
  '%F0%9F%92%A9'
]
const IDS = ['0', '-1', '01', '1.0', '1e3', '+1', '999999999', '1000000000', '9007199254740993', 'null', '%31', '']
const LONG_SEGMENTS = [8192, 8193, 60_000, 100_000]
const PATHS = [
  (path: string) => `${path}/`,
  (path: string) => `/${path}`,
  (path: string) => `/.${path}`,
  (path: string) => path.toUpperCase(),
  (path: string) => `${path}/../tables`,
  (path: string) => path.replace('a', '%61'),
  (path: string) => `${path};a=b`,
  (path: string) => `${path}#part`,
  (path: string) => `${path}/records/1/2`,
  (path: string) => path.slice(0, path.lastIndexOf('/')) || '/'
]

const TYPES = [
  '',
  'text/plain',
  'application/json; charset=latin1',
  'application/json;;',
  'application/JSON',
  'application/jsonx',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=a',
  'text/xml',
  'a/b/c',
  '*/*'
]

/** How JSON that is none comes along. */
const BYTES: readonly ((text: string) => string | Buffer)[] = [
  (text) => text.slice(0, -1),
  (text) => `${text},`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => `${text}${text}`,
  (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe])]),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => text.replace('{', '{"__proto__":{"a":1},'),
  (text) => text.replace(/\d+/, '1e999'),
  (text) => text.replace(/\d+/, `1${'0'.repeat(400)}`),
  (text) => text.replace('{', '{"name":"first",'),
  () => '',
  () => ' ',
  () => 'NaN',
  () => '"\\ud800"',
  () => '['.repeat(5000),
  () => `"${'x'.repeat(70_000)}"`
]

const HEADERS: readonly Record<string, string>[] = [
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'identity' },
  { 'transfer-encoding': 'chunked' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-origin' },
  { origin: 'https://elsewhere.example' },
  { origin: 'null' },
  { origin: 'https://elsewhere.example', 'access-control-request-method': 'PUT' },
  { expect: 'the-impossible' },
  { host: 'elsewhere.example' },
  { host: '' },
  { accept: 'text/html' },
  { 'accept-version': '9.0.0' },
  { 'x-forwarded-for': "1.2.3.4, ' OR 1" },
  { 'x-http-method-override': 'DELETE' },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { 'x-long': 'x'.repeat(80_000) }
]

/** Neither the caller's own nor anybody's. */
const CREDENTIALS: readonly Record<string, string>[] = [
  { authorization: '' },
  { authorization: 'Bearer' },
  { authorization: `Bearer rh_${'0'.repeat(64)}` },
  { authorization: 'Basic YWRtaW46YWRtaW4=' },
  { authorization: `Bearer ${'x'.repeat(5000)}` },
  { cookie: '' },
  { cookie: 'rowhouse_session=' },
  { cookie: 'rowhouse_session=a.b.c' },
  { cookie: 'rowhouse_session=%ff; rowhouse_session="' },
  { cookie: '__proto__=1; constructor=2' }
]

const replaceSegment = ({ path }: Draft, segment: string, { pick }: Random) => {
  const segments = path.split('/')
  return { path: segments.with(pick([...segments.keys()].slice(1)), segment).join('/') }
}

const withKey = ({ body }: Draft, name: string, value: unknown) =>
  isObject(body) ? { body: Object.fromEntries([...Object.entries(body), [name, value]]) } : {}

const withoutKey: Mutation = ({ body }, { pick }) => {
  if (!isObject(body) || Object.keys(body).length === 0) return {}
  const gone = pick(Object.keys(body))
  return { body: Object.fromEntries(Object.entries(body).filter(([name]) => name !== gone)) }
}

const withQuery = ({ query }: Draft, ...more: [string, string][]) => ({ query: [...query, ...more] })

const repeatedQuery: Mutation = (draft, { pick }) => {
  const [name, value] = draft.query[0] ?? ['page', '1']
  return withQuery(draft, [name, value], [pick([name, `${name}[]`, `${name}[a]`]), value])
}

const withHeaders = ({ headers }: Draft, more: Readonly<Record<string, string>>) => ({
  headers: { ...headers, ...more }
})

/** Almost the caller's own. */
const alteredCredential: Mutation = (draft) => {
  const { cookie, authorization } = draft.headers
  if (cookie !== undefined) return withHeaders(draft, { cookie: `${cookie.slice(0, -2)}xy` })
  return authorization === undefined ? {} : withHeaders(draft, { authorization: `${authorization.slice(0, -2)}xy` })
}

const withoutType: Mutation = ({ headers: { 'content-type': _, ...headers } }) => ({ headers })

const spoiledBody: Mutation = ({ body }, random) => ({ body: spoil(body, random) })

const OTHER_METHODS = METHODS.filter((method) => method !== 'CONNECT')

/** What can be wrong with a request; most of them leave the rest of it as it should be. */
const mutations: readonly Mutation[] = [
  spoiledBody,
  spoiledBody,
  withoutKey,
  (draft, random) => withKey(draft, nastyString(random), nastyValue(random)),
  ({ body = {} }, { pick }) => ({ bytes: pick(BYTES)(JSON.stringify(body)) }),
  (draft, { pick }) => withHeaders(draft, { 'content-type': pick(TYPES) }),
  withoutType,
  (_, { pick }) => ({ method: pick(OTHER_METHODS) }),
  ({ path }, { pick }) => ({ path: pick(PATHS)(path) }),
  (draft, random) => replaceSegment(draft, random.pick(IDS), random),
  (draft, random) => replaceSegment(draft, encoded(nastyString(random)), random),
  (draft, random) => replaceSegment(draft, random.pick(ENCODINGS), random),
  (draft, random) => replaceSegment(draft, 'x'.repeat(random.pick(LONG_SEGMENTS)), random),
  repeatedQuery,
  (draft, random) => withQuery(draft, [encoded(nastyString(random)), encoded(nastyString(random))]),
  (draft, { pick }) => withQuery(draft, [pick(['page', 'size', 'confirm']), pick(IDS)]),
  (draft, { pick }) => withQuery(draft, ['q', pick(ENCODINGS)]),
  (draft, { pick }) => withHeaders(draft, pick(HEADERS)),
  (draft, { pick }) => withHeaders(draft, pick(CREDENTIALS)),
  alteredCredential
]

/** Makes a request wrong in as many ways as are drawn: none, one or two. */
export const mutate = (draft: Draft, random: Random): Draft => {
  let changed = draft
  for (let times = random.pick([0, 1, 1, 2]); times > 0; times -= 1)
    changed = { ...changed, ...random.pick(mutations)(changed, random) }
  return changed
}

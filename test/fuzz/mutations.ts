import { METHODS } from 'node:http'
import { corrupt, type GeneratedRequest } from './generated-request.ts'
import type { Random } from './random.ts'
import { unusualString, unusualValue } from './values.ts'

type Mutation = (request: GeneratedRequest, random: Random) => Partial<GeneratedRequest>

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

/** Bodies that are not valid JSON, or that parsers treat differently. */
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
  { 'if-match': '*' },
  { 'if-match': 'W/"x", "y"' },
  { 'if-match': '"' },
  { 'x-long': 'x'.repeat(80_000) }
]

/** Malformed or unknown credentials. */
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

const replaceSegment = ({ path }: GeneratedRequest, segment: string, { pick }: Random) => {
  const segments = path.split('/')
  return { path: segments.with(pick([...segments.keys()].slice(1)), segment).join('/') }
}

const withKey = ({ body }: GeneratedRequest, name: string, value: unknown) =>
  isObject(body) ? { body: Object.fromEntries([...Object.entries(body), [name, value]]) } : {}

const withoutKey: Mutation = ({ body }, { pick }) => {
  if (!isObject(body) || Object.keys(body).length === 0) return {}
  const removed = pick(Object.keys(body))
  return { body: Object.fromEntries(Object.entries(body).filter(([name]) => name !== removed)) }
}

const withQuery = ({ query }: GeneratedRequest, ...more: [string, string][]) => ({ query: [...query, ...more] })

const repeatedQuery: Mutation = (request, { pick }) => {
  const [name, value] = request.query[0] ?? ['page', '1']
  return withQuery(request, [name, value], [pick([name, `${name}[]`, `${name}[a]`]), value])
}

const withHeaders = ({ headers }: GeneratedRequest, more: Readonly<Record<string, string>>) => ({
  headers: { ...headers, ...more }
})

/** Changes the last characters of the credential. */
const alteredCredential: Mutation = (request) => {
  const { cookie, authorization } = request.headers
  if (cookie !== undefined) return withHeaders(request, { cookie: `${cookie.slice(0, -2)}xy` })
  return authorization === undefined ? {} : withHeaders(request, { authorization: `${authorization.slice(0, -2)}xy` })
}

const withoutType: Mutation = ({ headers: { 'content-type': _, ...headers } }) => ({ headers })

const corruptedBody: Mutation = ({ body }, random) => ({ body: corrupt(body, random) })

const OTHER_METHODS = METHODS.filter((method) => method !== 'CONNECT')

/** Each mutation makes one part of a request invalid or unusual. */
const mutations: readonly Mutation[] = [
  corruptedBody,
  corruptedBody,
  withoutKey,
  (request, random) => withKey(request, unusualString(random), unusualValue(random)),
  ({ body = {} }, { pick }) => ({ bytes: pick(BYTES)(JSON.stringify(body)) }),
  (request, { pick }) => withHeaders(request, { 'content-type': pick(TYPES) }),
  withoutType,
  (_, { pick }) => ({ method: pick(OTHER_METHODS) }),
  ({ path }, { pick }) => ({ path: pick(PATHS)(path) }),
  (request, random) => replaceSegment(request, random.pick(IDS), random),
  (request, random) => replaceSegment(request, encoded(unusualString(random)), random),
  (request, random) => replaceSegment(request, random.pick(ENCODINGS), random),
  (request, random) => replaceSegment(request, 'x'.repeat(random.pick(LONG_SEGMENTS)), random),
  repeatedQuery,
  (request, random) => withQuery(request, [encoded(unusualString(random)), encoded(unusualString(random))]),
  (request, { pick }) => withQuery(request, [pick(['page', 'size', 'confirm']), pick(IDS)]),
  (request, { pick }) => withQuery(request, ['q', pick(ENCODINGS)]),
  (request, { pick }) => withHeaders(request, pick(HEADERS)),
  (request, { pick }) => withHeaders(request, pick(CREDENTIALS)),
  alteredCredential
]

/** Applies zero, one or two random mutations. */
export const mutate = (request: GeneratedRequest, random: Random): GeneratedRequest => {
  let changed = request
  for (let times = random.pick([0, 1, 1, 2]); times > 0; times -= 1)
    changed = { ...changed, ...random.pick(mutations)(changed, random) }
  return changed
}

import { deepStrictEqual } from 'node:assert/strict'
import type { Arbitrary } from 'fast-check'
import type { SearchIndex } from '../../../schemas/table.ts'
import { PASSWORD } from '../../fixtures.ts'
import { changePassword, issueToken, logIn } from './accounts.ts'
import {
  type Administrator,
  adminOf,
  authenticate,
  authenticateAdmin,
  authenticateToken,
  isLiveSession,
  isLiveToken,
  type Model,
  mayDo,
  type Need,
  Refusal,
  type Session,
  type Token
} from './model.ts'
import { type Call, startService, type TestResponse } from './service.ts'

export interface Settings {
  readonly requirePasswordChange: boolean
}

const START = Date.parse('2026-03-01T12:00:00.250Z')
const MAX_PAGE_SIZE = 6

const newModel = ({ requirePasswordChange }: Settings): Model => ({
  maxPageSize: MAX_PAGE_SIZE,
  requirePasswordChange,
  now: START,
  admins: [
    {
      id: 1,
      name: 'admin',
      nickname: 'admin',
      password: PASSWORD,
      mustChangePassword: true,
      createdAt: START,
      updatedAt: START
    }
  ],
  sessions: [],
  tokens: [],
  stored: [],
  views: [],
  registered: [],
  cursors: [],
  tags: []
})

/** The data of the response. The rules read only generated ids, keys and secrets from it. */
export type Returned = Readonly<Record<string, unknown>> | undefined
/** Returns the expected data of the response, or throws the expected Refusal. */
export type Rule = (returned: Returned, response: TestResponse) => unknown
export type Read = (response: TestResponse) => unknown

/** Properties of tables and fields that the model does not have. */
const DERIVED = [
  ...['clientName', 'foreignKeys', 'warnings', 'labelField'],
  ...['isRequired', 'isNullable', 'isExact', 'defaultKind', 'isIndexed', 'isUnique']
]

/** The build of a search index continues between two requests. The model knows only whether there is one. */
const simplify = (key: string, value: unknown) => {
  if (key === 'searchIndex') return (value as SearchIndex).state !== 'off'
  return DERIVED.includes(key) ? undefined : value
}

const dataIn = ({ text }: TestResponse): unknown => JSON.parse(text, simplify).data

/** Returns the code of an error, and the position of the operation of a batch that failed. */
const errorIn = ({ status, text }: TestResponse) => {
  if (status === 304 && text === '') return { code: null, operation: undefined }
  const { code, details = [] } = JSON.parse(text).error
  const [, operation] = /^\/operations\/(\d+)$/.exec(details[0]?.path ?? '') ?? []
  return { code, operation: operation === undefined ? undefined : Number(operation) }
}

const expected = (rule: () => unknown) => {
  try {
    return { status: 200, data: rule() }
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, code: error.code, operation: error.operation }
    throw error
  }
}

const received = async (response: TestResponse, read: Read) =>
  response.status === 200
    ? { status: 200, data: await read(response) }
    : { status: response.status, ...errorIn(response) }

export const idIn = (returned: Returned) => Number(returned?.id)

/** Returns the element that a selector chooses, or undefined for an empty list. */
export const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length]

/** One in twelve selectors chooses a credential without regard to its validity. */
const choosesAnyCredential = (n: number) => n % 12 === 11

export const bearer = (token: Pick<Token, 'secret'> | undefined) => ({
  authorization: `Bearer ${token?.secret ?? `rh_${'0'.repeat(64)}`}`
})

const mayAdminister = (model: Model) => (session: Session) =>
  isLiveSession(model, session) && !(model.requirePasswordChange && adminOf(model, session)?.mustChangePassword)

/** Starts a service with a model. Each call goes to the service and to the model, and both results must be equal. */
export const createHarness = async (settings: Settings) => {
  const model = newModel(settings)
  const service = await startService({ ...settings, maxPageSize: MAX_PAGE_SIZE, clock: () => model.now })
  const trace: string[] = []
  const issuedTokens: Token[] = []

  const check = async (call: Call, rule: Rule, read: Read = dataIn): Promise<void> => {
    const response = await service.send(call)
    trace.push(
      `${call.method} ${call.url} ${JSON.stringify(call.payload) ?? ''} -> ${response.status} ${response.text}`
    )
    const actual = await received(response, read)
    const returned = response.status === 200 ? (actual.data as Returned) : undefined
    deepStrictEqual(
      actual,
      expected(() => rule(returned, response))
    )
  }

  const logInAs = async ({ name, password }: Pick<Administrator, 'name' | 'password'>) =>
    check({ method: 'POST', url: '/auth/login', payload: { name, password } }, (_, { cookie }) =>
      logIn(model, name, password, cookie)
    )

  /** Creates a session that may use /admin. */
  const createAdminSession = async (n: number): Promise<Session> => {
    const admin = pick(model.admins, n) as Administrator
    await logInAs(admin)
    const session = model.sessions.at(-1) as Session
    if (mayAdminister(model)(session)) return session
    const payload = { oldPassword: admin.password, newPassword: `${admin.password}!` }
    await check({ method: 'PUT', url: '/auth/password', headers: { cookie: session.cookie }, payload }, () =>
      changePassword(model, session, payload.oldPassword, payload.newPassword)
    )
    return session
  }

  const pickSession = async (n: number): Promise<Session | undefined> => {
    if (choosesAnyCredential(n)) return [undefined, ...model.sessions][(n >> 4) % (model.sessions.length + 1)]
    return pick(model.sessions.filter(mayAdminister(model)), n) ?? (await createAdminSession(n))
  }

  /** Sends a request under /admin. */
  const asAdmin = async (
    n: number,
    call: Call,
    rule: (by: Administrator, returned: Returned, response: TestResponse) => unknown,
    read?: Read
  ) => {
    const session = await pickSession(n)
    const headers = { ...call.headers, ...(session && { cookie: session.cookie }) }
    await check(
      { ...call, headers },
      (returned, response) => rule(authenticateAdmin(model, session), returned, response),
      read
    )
  }

  const issue = async (n: number, payload: Parameters<typeof issueToken>[1]) => {
    await asAdmin(n, { method: 'POST', url: '/admin/tokens', payload }, (_, returned) =>
      issueToken(model, payload, { id: idIn(returned), secret: String(returned?.token) })
    )
    const token = model.tokens.at(-1)
    if (token && !issuedTokens.includes(token)) issuedTokens.push(token)
  }

  const pickToken = async (n: number, need: Need, table: string): Promise<Token | undefined> => {
    if (choosesAnyCredential(n)) return [undefined, ...issuedTokens][(n >> 4) % (issuedTokens.length + 1)]
    const live = model.tokens.filter((token) => isLiveToken(model, token))
    const fitting = live.filter((token) => mayDo(token, need, table))
    const picked = pick(n % 4 === 0 ? live : fitting, n)
    if (picked) return picked
    await issue(0, { name: 'all', permissions: { tables: ['*'], actions: ['read', 'write'] } })
    return model.tokens.at(-1)
  }

  /** Sends a request under /data. */
  const asToken = async (
    [n, need, table]: [n: number, need: Need, table: string],
    call: Call,
    rule: (token: Token, returned: Returned, response: TestResponse) => unknown,
    read?: Read
  ) => {
    const token = await pickToken(n, need, table)
    await check(
      { ...call, headers: { ...call.headers, ...bearer(token) } },
      (returned, response) => rule(authenticateToken(model, token), returned, response),
      read
    )
  }

  /** Sends a request under /data with a new token, which may perform these actions on all tables. */
  const asNewToken = async (
    actions: Token['permissions']['actions'],
    call: Call,
    rule: (token: Token, returned: Returned) => unknown
  ) => {
    await issue(0, { name: 'new', permissions: { tables: ['*'], actions } })
    const token = model.tokens.at(-1)
    await check({ ...call, headers: bearer(token) }, (returned) => rule(authenticateToken(model, token), returned))
  }

  /** Sends a request under /auth, for which any valid session is sufficient. */
  const asSessionOwner = async (
    n: number,
    call: Call,
    rule: (session: Session, by: Administrator) => unknown,
    read?: Read
  ) => {
    const session = (n % 2 === 0 ? pick(model.sessions, n >> 1) : undefined) ?? (await pickSession(n))
    const headers = session && { cookie: session.cookie }
    const ruleOfOwner = () => {
      const by = authenticate(model, session)
      return rule(session as Session, by)
    }
    await check({ ...call, ...(headers && { headers }) }, ruleOfOwner, read)
  }

  return { model, service, trace, check, logInAs, asSessionOwner, asAdmin, asToken, asNewToken, issue }
}

export type Harness = Awaited<ReturnType<typeof createHarness>>

/** One kind of command: its random input and its effect. The input contains selectors, which are valid in any state. */
export interface Command<T> {
  readonly weight: number
  readonly input: Arbitrary<T>
  readonly run: (harness: Harness, input: T) => Promise<void>
}

export const command = <T>(weight: number, input: Command<T>['input'], run: Command<T>['run']): Command<T> => ({
  weight,
  input,
  run
})

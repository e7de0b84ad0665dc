import { deepStrictEqual } from 'node:assert/strict'
import type { Arbitrary } from 'fast-check'
import { PASSWORD } from '../../helpers.ts'
import { changePassword, issueToken, logIn } from './accounts.ts'
import {
  type Administrator,
  administer,
  adminOf,
  authenticate,
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
  registered: []
})

/** What the service alone can know: made-up ids and secrets. */
export type Learned = Readonly<Record<string, unknown>> | undefined
/** Gives the data that the answer must have, or throws the Refusal that it must be. */
export type Rule = (learned: Learned, answer: TestResponse) => unknown
type Read = (answer: TestResponse) => unknown

const dataIn = ({ text }: TestResponse): unknown => JSON.parse(text).data

const codeIn = ({ text }: TestResponse): unknown => JSON.parse(text).error?.code

const expected = (rule: () => unknown) => {
  try {
    return { status: 200, data: rule() }
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, code: error.code }
    throw error
  }
}

const received = async (answer: TestResponse, read: Read) =>
  answer.status === 200 ? { status: 200, data: await read(answer) } : { status: answer.status, code: codeIn(answer) }

export const idIn = (learned: Learned) => Number(learned?.id)

/** One of them, whatever the number; undefined where there is none. */
export const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length]

/** Every so many-th choice is a bad one. */
const isAstray = (n: number) => n % 12 === 11

export const bearer = (token: Token | undefined) => ({
  authorization: `Bearer ${token?.secret ?? `rh_${'0'.repeat(64)}`}`
})

const isAble = (model: Model) => (session: Session) =>
  isLiveSession(model, session) && !(model.requirePasswordChange && adminOf(model, session)?.mustChangePassword)

/** The service and the model beside it. Every call is answered by both, and the answers must be the same. */
export const createWorld = async (settings: Settings) => {
  const model = newModel(settings)
  const service = await startService({ ...settings, maxPageSize: MAX_PAGE_SIZE, clock: () => model.now })
  const trace: string[] = []
  const everyToken: Token[] = []

  const check = async (call: Call, rule: Rule, read: Read = dataIn): Promise<void> => {
    const answer = await service.send(call)
    trace.push(`${call.method} ${call.url} ${JSON.stringify(call.payload) ?? ''} -> ${answer.status} ${answer.text}`)
    const actual = await received(answer, read)
    const learned = answer.status === 200 ? (actual.data as Learned) : undefined
    deepStrictEqual(
      actual,
      expected(() => rule(learned, answer))
    )
  }

  const logInAs = async ({ name, password }: Pick<Administrator, 'name' | 'password'>) =>
    check({ method: 'POST', url: '/auth/login', payload: { name, password } }, (_, { cookie }) =>
      logIn(model, name, password, cookie)
    )

  /** Makes a session that may administer. */
  const becomeAble = async (n: number): Promise<Session> => {
    const admin = pick(model.admins, n) as Administrator
    await logInAs(admin)
    const session = model.sessions.at(-1) as Session
    if (isAble(model)(session)) return session
    const payload = { oldPassword: admin.password, newPassword: `${admin.password}!` }
    await check({ method: 'PUT', url: '/auth/password', headers: { cookie: session.cookie }, payload }, () =>
      changePassword(model, session, payload.oldPassword, payload.newPassword)
    )
    return session
  }

  const pickSession = async (n: number): Promise<Session | undefined> => {
    if (isAstray(n)) return [undefined, ...model.sessions][(n >> 4) % (model.sessions.length + 1)]
    return pick(model.sessions.filter(isAble(model)), n) ?? (await becomeAble(n))
  }

  /** A call under /admin. */
  const asAdmin = async (
    n: number,
    call: Call,
    rule: (by: Administrator, learned: Learned) => unknown,
    read?: Read
  ) => {
    const session = await pickSession(n)
    const headers = session && { cookie: session.cookie }
    await check({ ...call, ...(headers && { headers }) }, (learned) => rule(administer(model, session), learned), read)
  }

  const issue = async (n: number, payload: Parameters<typeof issueToken>[1]) => {
    await asAdmin(n, { method: 'POST', url: '/admin/tokens', payload }, (_, learned) =>
      issueToken(model, payload, { id: idIn(learned), secret: String(learned?.token) })
    )
    const token = model.tokens.at(-1)
    if (token && !everyToken.includes(token)) everyToken.push(token)
  }

  const pickToken = async (n: number, need: Need, table: string): Promise<Token | undefined> => {
    if (isAstray(n)) return [undefined, ...everyToken][(n >> 4) % (everyToken.length + 1)]
    const live = model.tokens.filter((token) => isLiveToken(model, token))
    const fit = live.filter((token) => mayDo(token, need, table))
    const found = pick(n % 4 === 0 ? live : fit, n)
    if (found) return found
    await issue(0, { name: 'all', permissions: { tables: ['*'], actions: ['read', 'write'] } })
    return model.tokens.at(-1)
  }

  /** A call under /data. */
  const asToken = async (
    [n, need, table]: [n: number, need: Need, table: string],
    call: Call,
    rule: (token: Token, learned: Learned) => unknown,
    read?: Read
  ) => {
    const token = await pickToken(n, need, table)
    await check({ ...call, headers: bearer(token) }, (learned) => rule(authenticateToken(model, token), learned), read)
  }

  /** A call under /auth, which every live session may make. */
  const asSelf = async (n: number, call: Call, rule: (session: Session, by: Administrator) => unknown) => {
    const session = (n % 2 === 0 ? pick(model.sessions, n >> 1) : undefined) ?? (await pickSession(n))
    const headers = session && { cookie: session.cookie }
    await check({ ...call, ...(headers && { headers }) }, () => {
      const by = authenticate(model, session)
      return rule(session as Session, by)
    })
  }

  return { model, service, trace, check, logInAs, asSelf, asAdmin, asToken, issue }
}

export type World = Awaited<ReturnType<typeof createWorld>>

/** One kind of command: what it chooses, and what it does. Choices are numbers that any state can make sense of. */
export interface Command<T> {
  readonly weight: number
  readonly choices: Arbitrary<T>
  readonly run: (world: World, choices: T) => Promise<void>
}

export const command = <T>(weight: number, choices: Command<T>['choices'], run: Command<T>['run']): Command<T> => ({
  weight,
  choices,
  run
})

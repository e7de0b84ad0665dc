import fc from 'fast-check'
import type { Harness, Read, Returned } from '../harness.ts'
import {
  allow,
  assertMay,
  findRegistered,
  findStored,
  invalid,
  type Model,
  mayDo,
  type Need,
  type Registered,
  type Token,
  tableOf,
  type Viewer,
  visibleFields
} from '../model.ts'
import type { Call, TestResponse } from '../service.ts'
import { selector } from './arbitraries.ts'
import { idOf, nameOf } from './tables.ts'

/** Selects the caller and the table. */
export const target = { by: selector, byToken: fc.boolean(), at: selector, casing: selector }
export interface Target {
  readonly by: number
  readonly byToken: boolean
  readonly at: number
  readonly casing: number
}

interface Request {
  readonly need: Need
  /** A second action that the request needs. */
  readonly alsoNeeds?: Need
  readonly method: Call['method']
  /** The last part of the URL, if it is not that of the records. */
  readonly route?: 'query' | 'aggregate' | 'export' | 'import' | 'incr'
  /** Appended to the URL of the records. */
  readonly pk?: string
  readonly query?: string
  readonly payload?: object | string
  readonly headers?: Call['headers']
  readonly isMalformed?: boolean
  readonly returnsRecord?: boolean
}

/** What a rule may read of the call. `token`: undefined for an administrator. */
export interface Sent {
  readonly token: Token | undefined
  readonly response: TestResponse
}

/** Whether the caller may read the records of the table. */
export const maySee = ({ token }: Pick<Sent, 'token'>, { name }: Registered) =>
  token === undefined || mayDo(token, 'read', name)

type RecordRule = (table: Registered, viewer: Viewer, returned: Returned, sent: Sent) => unknown

export const RETURN = '?return=record'

const urlOf = (base: string, { pk, query = '', returnsRecord = false }: Request) =>
  pk === undefined ? `${base}${query}` : `${base}/${encodeURIComponent(pk)}${returnsRecord ? RETURN : ''}`

const callOf = (base: string, request: Request): Call => ({
  method: request.method,
  url: urlOf(base, request),
  ...(request.payload && { payload: request.payload }),
  ...(request.headers && { headers: request.headers })
})

const tokenBase = (name: string, { need, pk, route }: Request) => {
  if (route) return `/data/${name}/${route}`
  return need === 'read' && pk === undefined ? `/data/${name}` : `/data/${name}/records`
}

/** Sends a request as an administrator or as a token. They use different URLs and see different fields. */
export const sendAs = (harness: Harness, target: Target, request: Request, rule: RecordRule, read?: Read) => {
  const { model, asAdmin, asToken } = harness
  const { need, alsoNeeds, route = 'data', isMalformed = false, returnsRecord = false } = request
  if (!target.byToken) {
    const id = idOf(model, target.at)
    const call = callOf(`/admin/tables/${id}/${route}`, request)
    const adminRule: Parameters<typeof asAdmin>[2] = (_, returned, response) =>
      isMalformed ? invalid() : rule(tableOf(model, id), 'administrator', returned, { token: undefined, response })
    return asAdmin(target.by, call, adminRule, read)
  }
  const name = nameOf(model, target)
  const call = callOf(tokenBase(name, request), request)
  const tokenRule: Parameters<typeof asToken>[2] = (token, returned, response) => {
    // The right to a write is checked before its body is read.
    if (need !== 'read') assertMay(token, need, name)
    if (returnsRecord) assertMay(token, 'read', name)
    if (alsoNeeds) assertMay(token, alsoNeeds, name)
    return isMalformed ? invalid() : rule(allow(model, token, need, name), 'token', returned, { token, response })
  }
  return asToken([target.by, need, name], call, tokenRule, read)
}

/** Returns the selected table, for which a request is generated, or undefined where none exists. */
export const findTarget = (model: Model, { at, byToken, casing }: Target) => {
  const name = nameOf(model, { at, casing })
  const table = findRegistered(model, name)
  const viewer: Viewer = byToken ? 'token' : 'administrator'
  return table && { table, stored: findStored(model, name), fields: visibleFields(table, viewer) }
}
export type TargetTable = NonNullable<ReturnType<typeof findTarget>>

import type { ErrorCode } from '../../schemas/error.ts'
import type { Action } from '../../schemas/token.ts'
import type { Caller } from './access-callers.ts'
import { PASSWORD, type Workshop } from './access-workshop.ts'

type TokenNeed = Exclude<Action, 'write'> | 'token'

/** `session` and `administrator` differ only while a password has to be changed. */
export type Need = 'nothing' | 'session' | 'administrator' | TokenNeed

/** How tokens may see the table that a request is about. */
export type TableState = 'open' | 'frozen' | 'private'

/** A method of a route, parameters in its path. */
export interface Call {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly pattern: string
}

export interface Asked {
  readonly url: string
  readonly payload?: object
}

interface Operation {
  readonly needs: Need
  /** A request that succeeds for whoever may send it, once. */
  readonly ask: (workshop: Workshop, state: TableState) => Asked | Promise<Asked>
  /** Its status, where that is not 200. */
  readonly success?: number
}

const open = (url: string, success = 200): Operation => ({ needs: 'nothing', ask: () => ({ url }), success })

const operation = (needs: Need, ask: Operation['ask']): Operation => ({ needs, ask })

const field = { name: 'a', jsonType: 'string' }

const tableOf = (workshop: Workshop, state: TableState) => workshop.tables[state]

const adminUrl = (workshop: Workshop, state: TableState) => `/admin/tables/${tableOf(workshop, state).id}`
const dataUrl = (workshop: Workshop, state: TableState) => `/data/${tableOf(workshop, state).name}`

/** Who may do what, as the contract says it and not as the sources do. HEAD is as its GET. */
export const operations: Readonly<Record<string, Operation>> = {
  'GET /health': open('/health'),
  'GET /health/ready': open('/health/ready'),
  'GET /openapi.json': open('/openapi.json'),
  'GET /docs': open('/docs'),
  'GET /docs/': open('/docs/'),
  'GET /docs/json': open('/docs/json'),
  'GET /docs/yaml': open('/docs/yaml'),
  'GET /docs/static/*': open('/docs/static/swagger-ui.css'),
  'GET /docs/static/index.html': open('/docs/static/index.html', 302),
  'GET /docs/static/swagger-initializer.js': open('/docs/static/swagger-initializer.js'),
  'GET /docs/static/theme/icon.svg': open('/docs/static/theme/icon.svg'),
  'GET /docs/static/theme/rowhouse.css': open('/docs/static/theme/rowhouse.css'),

  'POST /auth/login': operation('nothing', async ({ newAdmin }) => ({
    url: '/auth/login',
    payload: { name: (await newAdmin()).name, password: PASSWORD }
  })),
  'GET /auth/me': operation('session', () => ({ url: '/auth/me' })),
  'PUT /auth/password': operation('session', () => ({
    url: '/auth/password',
    payload: { oldPassword: PASSWORD, newPassword: 'one of my own' }
  })),
  'POST /auth/logout': operation('session', () => ({ url: '/auth/logout' })),

  'GET /admin/tables': operation('administrator', () => ({ url: '/admin/tables' })),
  'GET /admin/tables/:id': operation('administrator', (workshop, state) => ({ url: adminUrl(workshop, state) })),
  'POST /admin/tables/import': operation('administrator', async ({ newStoredTable }) => ({
    url: '/admin/tables/import',
    payload: { name: await newStoredTable() }
  })),
  'POST /admin/tables': operation('administrator', ({ newName }) => ({
    url: '/admin/tables',
    payload: { name: newName(), label: '', fields: [field] }
  })),
  'PUT /admin/tables/:id': operation('administrator', (workshop, state) => ({
    url: adminUrl(workshop, state),
    payload: { label: workshop.newName() }
  })),
  'POST /admin/tables/:id/refresh': operation('administrator', (workshop, state) => ({
    url: `${adminUrl(workshop, state)}/refresh`
  })),
  'DELETE /admin/tables/:id': operation('administrator', async ({ newTable }) => ({
    url: `/admin/tables/${(await newTable()).id}?confirm=true`
  })),

  'GET /admin/tables/:id/data': operation('administrator', (workshop, state) => ({
    url: `${adminUrl(workshop, state)}/data`
  })),
  'GET /admin/tables/:id/export': operation('administrator', (workshop, state) => ({
    url: `${adminUrl(workshop, state)}/export`
  })),
  'GET /admin/tables/:id/data/:pk': operation('administrator', (workshop, state) => ({
    url: `${adminUrl(workshop, state)}/data/1`
  })),
  'POST /admin/tables/:id/data': operation('administrator', (workshop, state) => ({
    url: `${adminUrl(workshop, state)}/data`,
    payload: { name: 'new' }
  })),
  'PUT /admin/tables/:id/data/:pk': operation('administrator', (workshop, state) => ({
    url: `${adminUrl(workshop, state)}/data/1`,
    payload: { name: workshop.newName() }
  })),
  'DELETE /admin/tables/:id/data/:pk': operation('administrator', async (workshop, state) => ({
    url: `${adminUrl(workshop, state)}/data/${await workshop.newRecord(tableOf(workshop, state))}`
  })),

  'GET /admin/tokens': operation('administrator', () => ({ url: '/admin/tokens' })),
  'POST /admin/tokens': operation('administrator', () => ({
    url: '/admin/tokens',
    payload: { name: 'new', permissions: { tables: ['*'], actions: ['read', 'write'] } }
  })),
  'PUT /admin/tokens/:id': operation('administrator', async ({ newToken }) => ({
    url: `/admin/tokens/${(await newToken()).id}`,
    payload: { permissions: { tables: ['*'], actions: ['read', 'write'] } }
  })),
  'DELETE /admin/tokens/:id': operation('administrator', async ({ newToken }) => ({
    url: `/admin/tokens/${(await newToken()).id}`
  })),

  'GET /admin/admins': operation('administrator', () => ({ url: '/admin/admins' })),
  'POST /admin/admins': operation('administrator', ({ newName }) => ({
    url: '/admin/admins',
    payload: { name: newName(), nickname: '', password: PASSWORD }
  })),
  'PUT /admin/admins/:id': operation('administrator', async ({ newAdmin }) => ({
    url: `/admin/admins/${(await newAdmin()).id}`,
    payload: { password: 'set by another' }
  })),
  'DELETE /admin/admins/:id': operation('administrator', async ({ newAdmin }) => ({
    url: `/admin/admins/${(await newAdmin()).id}`
  })),

  'GET /data/_me': operation('token', () => ({ url: '/data/_me' })),
  'POST /data/_schema/tables': operation('schema', ({ newName }) => ({
    url: '/data/_schema/tables',
    payload: { name: newName(), label: '', fields: [field] }
  })),
  'POST /data/_schema/tables/:table/fields': operation('schema', (workshop, state) => ({
    url: `/data/_schema/tables/${tableOf(workshop, state).name}/fields`,
    payload: { field: { ...field, name: workshop.newName() } }
  })),
  'GET /data/:table': operation('read', (workshop, state) => ({ url: dataUrl(workshop, state) })),
  'GET /data/:table/schema': operation('read', (workshop, state) => ({ url: `${dataUrl(workshop, state)}/schema` })),
  'GET /data/:table/records/:pk': operation('read', (workshop, state) => ({
    url: `${dataUrl(workshop, state)}/records/1`
  })),
  'POST /data/:table/records': operation('create', (workshop, state) => ({
    url: `${dataUrl(workshop, state)}/records`,
    payload: { name: 'new' }
  })),
  'PUT /data/:table/records/:pk': operation('update', (workshop, state) => ({
    url: `${dataUrl(workshop, state)}/records/1`,
    payload: { name: workshop.newName() }
  })),
  'DELETE /data/:table/records/:pk': operation('delete', async (workshop, state) => ({
    url: `${dataUrl(workshop, state)}/records/${await workshop.newRecord(tableOf(workshop, state))}`
  })),
  'POST /data/:table/incr': operation('update', (workshop, state) => ({
    url: `${dataUrl(workshop, state)}/incr`,
    payload: { pk: '1', field: 'n', count: 1 }
  }))
}

const keyOf = ({ method, pattern }: Call) => `${method === 'HEAD' ? 'GET' : method} ${pattern}`

export const isOperation = (call: Call) => keyOf(call) in operations

/** @throws where there is no entry for the call */
export const operationOf = (call: Call) => {
  const operation = operations[keyOf(call)]
  if (!operation) throw new Error(`Nobody has said who may ${keyOf(call)}.`)
  return operation
}

export interface Refusal {
  readonly status: number
  readonly code: ErrorCode
}

const refusal = (status: number, code: ErrorCode): Refusal => ({ status, code })

const refusalOfSession = (needs: Need, { session }: Caller, isChangeRequired: boolean) => {
  if (session === undefined) return refusal(401, 'AUTHENTICATION_REQUIRED')
  const isClosed = isChangeRequired && session.mustChange && needs === 'administrator'
  return isClosed ? refusal(403, 'PASSWORD_CHANGE_REQUIRED') : null
}

const WRITE: readonly Need[] = ['create', 'update', 'delete', 'schema']

const refusalOfToken = (needs: TokenNeed, { token }: Caller, state: TableState) => {
  if (token === undefined) return refusal(401, 'INVALID_TOKEN')
  if (needs === 'token') return null
  const isGranted = token.actions.includes(needs) || (token.actions.includes('write') && WRITE.includes(needs))
  if (!isGranted || !token.tables.includes('*')) return refusal(403, 'ACTION_NOT_ALLOWED')
  if (state === 'private') return refusal(404, 'TABLE_NOT_FOUND')
  return state === 'frozen' && WRITE.includes(needs) ? refusal(403, 'TABLE_READ_ONLY') : null
}

interface Circumstances {
  readonly state: TableState
  readonly isChangeRequired: boolean
}

/** What the contract has for a caller: a refusal, or null where the call succeeds. */
export const refusalFor = (needs: Need, caller: Caller, { state, isChangeRequired }: Circumstances) => {
  if (needs === 'nothing') return null
  if (needs === 'session' || needs === 'administrator') return refusalOfSession(needs, caller, isChangeRequired)
  return refusalOfToken(needs, caller, state)
}

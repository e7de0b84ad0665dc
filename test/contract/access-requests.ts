import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findConsole } from '../../plugins/app/console.ts'
import { dataOf } from '../helpers.ts'
import type { RuleKey, TableState } from './access-rules.ts'
import { PASSWORD, type Setup } from './access-setup.ts'

export interface ExampleRequest {
  readonly url: string
  readonly payload?: object | string
  /** The content type of a payload that is not JSON. */
  readonly type?: string
  /** The status of success, 200 by default. */
  readonly success?: number
}

/** Creates what the request needs. The request succeeds once, with any credential that the rule allows. */
type CreateRequest = (setup: Setup, state: TableState) => ExampleRequest | Promise<ExampleRequest>

const get =
  (url: string, success = 200): CreateRequest =>
  () => ({ url, success })

const field = { name: 'a', jsonType: 'string' }
const permissions = { tables: ['*'], actions: ['read', 'write'] }

const FILE = { payload: 'name\nnew\n', type: 'text/csv' }

const adminUrl = ({ tables }: Setup, state: TableState) => `/admin/tables/${tables[state].id}`
const dataUrl = ({ tables }: Setup, state: TableState) => `/data/${tables[state].name}`

/** A role with a name of its own. */
const newRole = () => ({ name: `role ${randomUUID()}`, grants: [{ tables: ['*'], actions: ['read'] }] })

const createRole = async ({ admin }: Setup) => `/admin/roles/${dataOf(await admin.post('/admin/roles', newRole())).id}`

/** Vite adds a hash to the names of assets. */
const [consoleAsset] = readdirSync(join(findConsole(), 'assets'))

export const exampleRequests: Readonly<Record<RuleKey, CreateRequest>> = {
  'GET /': get('/', 302),
  'GET /console': get('/console', 302),
  'GET /console/*': get('/console/tables/1'),
  'GET /console/assets/*': get(`/console/assets/${consoleAsset}`),
  'GET /health': get('/health'),
  'GET /health/ready': get('/health/ready'),
  'GET /metrics': get('/metrics'),
  'GET /openapi.json': get('/openapi.json'),
  'GET /docs': get('/docs'),
  'GET /docs/': get('/docs/'),
  'GET /docs/json': get('/docs/json'),
  'GET /docs/yaml': get('/docs/yaml'),
  'GET /docs/static/*': get('/docs/static/swagger-ui.css'),
  'GET /docs/static/index.html': get('/docs/static/index.html', 302),
  'GET /docs/static/swagger-initializer.js': get('/docs/static/swagger-initializer.js'),
  'GET /docs/static/theme/icon.svg': get('/docs/static/theme/icon.svg'),
  'GET /docs/static/theme/rowhouse.css': get('/docs/static/theme/rowhouse.css'),
  'GET /docs/static/theme/token.js': get('/docs/static/theme/token.js'),

  'POST /auth/login': async ({ newAdmin }) => ({
    url: '/auth/login',
    payload: { name: (await newAdmin()).name, password: PASSWORD }
  }),
  'GET /auth/me': get('/auth/me'),
  'GET /auth/sessions': get('/auth/sessions'),
  'DELETE /auth/sessions/:id': () => ({ url: '/auth/sessions/00000000-0000-4000-8000-000000000000', success: 404 }),
  'PUT /auth/password': () => ({
    url: '/auth/password',
    payload: { oldPassword: PASSWORD, newPassword: 'a new password' }
  }),
  'POST /auth/logout': () => ({ url: '/auth/logout' }),

  'POST /admin/batch': () => ({ url: '/admin/batch', payload: { operations: [] } }),
  'GET /admin/tables': get('/admin/tables'),
  'GET /admin/tables/:id': (setup, state) => ({ url: adminUrl(setup, state) }),
  'GET /admin/status': get('/admin/status'),
  'GET /admin/settings': get('/admin/settings'),
  'PUT /admin/settings': () => ({ url: '/admin/settings', payload: { maxPageSize: 500 } }),
  'GET /admin/imports': get('/admin/imports'),
  'GET /admin/audit': get('/admin/audit'),
  'GET /admin/audit/export': get('/admin/audit/export'),
  'GET /admin/openapi.json': get('/admin/openapi.json'),
  'GET /admin/tables/importable': get('/admin/tables/importable'),
  'POST /admin/tables/import': async ({ newUnregisteredTable }) => ({
    url: '/admin/tables/import',
    payload: { name: await newUnregisteredTable() }
  }),
  'POST /admin/tables': ({ newName }) => ({
    url: '/admin/tables',
    payload: { name: newName(), label: '', fields: [field] }
  }),
  'POST /admin/tables/from-file': ({ newName }) => ({
    url: `/admin/tables/from-file?name=${newName()}&label=`,
    ...FILE
  }),
  'PUT /admin/tables/:id': (setup, state) => ({ url: adminUrl(setup, state), payload: { label: setup.newName() } }),
  'POST /admin/tables/:id/fields': (setup, state) => ({
    url: `${adminUrl(setup, state)}/fields`,
    payload: { field: { ...field, name: setup.newName() } }
  }),
  'PUT /admin/tables/:id/fields/:name': async ({ newTable, newName }) => ({
    url: `/admin/tables/${(await newTable()).id}/fields/name`,
    payload: { name: newName(), jsonType: 'object' }
  }),
  'DELETE /admin/tables/:id/fields/:name': async ({ newTable }) => ({
    url: `/admin/tables/${(await newTable()).id}/fields/name?confirm=true`
  }),
  'POST /admin/tables/:id/refresh': (setup, state) => ({ url: `${adminUrl(setup, state)}/refresh` }),
  'DELETE /admin/tables/:id': async ({ newTable }) => ({
    url: `/admin/tables/${(await newTable()).id}?confirm=true`
  }),
  'GET /admin/tables/:id/indexes': (setup, state) => ({ url: `${adminUrl(setup, state)}/indexes` }),
  'POST /admin/tables/:id/indexes': async ({ newTable }) => ({
    url: `/admin/tables/${(await newTable()).id}/indexes`,
    payload: { fields: ['name'] }
  }),
  'DELETE /admin/tables/:id/indexes/:name': async ({ admin, newTable }) => {
    const url = `/admin/tables/${(await newTable()).id}/indexes`
    return { url: `${url}/${dataOf(await admin.post(url, { fields: ['name'] })).name}` }
  },

  'GET /admin/tables/:id/data': (setup, state) => ({ url: `${adminUrl(setup, state)}/data` }),
  'POST /admin/tables/:id/query': (setup, state) => ({ url: `${adminUrl(setup, state)}/query`, payload: {} }),
  'POST /admin/tables/:id/aggregate': (setup, state) => ({
    url: `${adminUrl(setup, state)}/aggregate`,
    payload: { compute: { n: { count: true } } }
  }),
  'GET /admin/tables/:id/export': (setup, state) => ({ url: `${adminUrl(setup, state)}/export` }),
  'POST /admin/tables/:id/import': (setup, state) => ({ url: `${adminUrl(setup, state)}/import`, ...FILE }),
  'GET /admin/tables/:id/data/:pk': (setup, state) => ({ url: `${adminUrl(setup, state)}/data/1` }),
  'GET /admin/tables/:id/data/:pk/referring': (setup, state) => ({
    url: `${adminUrl(setup, state)}/data/1/referring`
  }),
  'POST /admin/tables/:id/data': (setup, state) => ({
    url: `${adminUrl(setup, state)}/data`,
    payload: { name: 'new' }
  }),
  'PUT /admin/tables/:id/data/:pk': (setup, state) => ({
    url: `${adminUrl(setup, state)}/data/1`,
    payload: { name: setup.newName() }
  }),
  'PATCH /admin/tables/:id/data/:pk': (setup, state) => ({
    url: `${adminUrl(setup, state)}/data/1`,
    payload: { name: setup.newName() }
  }),
  'DELETE /admin/tables/:id/data/:pk': async (setup, state) => ({
    url: `${adminUrl(setup, state)}/data/${await setup.newRecord(setup.tables[state])}`
  }),

  'GET /admin/tokens': get('/admin/tokens'),
  'POST /admin/tokens': () => ({ url: '/admin/tokens', payload: { name: 'new', permissions } }),
  'GET /admin/tokens/:id': async ({ newToken }) => ({ url: `/admin/tokens/${(await newToken()).id}` }),
  'GET /admin/tokens/:id/uses': async ({ newToken }) => ({ url: `/admin/tokens/${(await newToken()).id}/uses` }),
  'PUT /admin/tokens/:id': async ({ newToken }) => ({
    url: `/admin/tokens/${(await newToken()).id}`,
    payload: { permissions }
  }),
  'POST /admin/tokens/:id/rotate': async ({ newToken }) => ({
    url: `/admin/tokens/${(await newToken()).id}/rotate`,
    payload: { overlapSeconds: 0 }
  }),
  'DELETE /admin/tokens/:id': async ({ newToken }) => ({ url: `/admin/tokens/${(await newToken()).id}` }),

  'POST /admin/tokens/:id/explain': async ({ newToken, tables }) => ({
    url: `/admin/tokens/${(await newToken()).id}/explain`,
    payload: { table: tables.editable.name, action: 'read' }
  }),
  'POST /admin/tokens/:id/view': async ({ newToken }) => ({ url: `/admin/tokens/${(await newToken()).id}/view` }),

  'GET /admin/roles': get('/admin/roles'),
  'POST /admin/roles': () => ({ url: '/admin/roles', payload: newRole() }),
  'GET /admin/roles/:id': async (setup) => ({ url: await createRole(setup) }),
  'PUT /admin/roles/:id': async (setup) => ({ url: await createRole(setup), payload: { grants: [] } }),
  'DELETE /admin/roles/:id': async (setup) => ({ url: await createRole(setup) }),

  'GET /admin/backups': get('/admin/backups'),
  'POST /admin/backups': () => ({ url: '/admin/backups' }),
  'POST /admin/backups/upload': async ({ admin, backup }) => {
    const { rawPayload } = await admin.get(backup)
    return { url: '/admin/backups/upload', payload: rawPayload, type: 'application/vnd.sqlite3' }
  },
  'GET /admin/backups/:name': ({ backup }) => ({ url: backup }),
  'DELETE /admin/backups/:name': async ({ newBackup }) => ({ url: await newBackup() }),
  'POST /admin/backups/:name/restore': ({ backup }) => ({ url: `${backup}/restore` }),

  'GET /admin/keys': get('/admin/keys'),
  'POST /admin/keys': () => ({ url: '/admin/keys', payload: { name: 'new', scopes: ['audit'] } }),
  'GET /admin/keys/:id': async ({ newKey }) => ({ url: `/admin/keys/${(await newKey(['audit'])).id}` }),
  'DELETE /admin/keys/:id': async ({ newKey }) => ({ url: `/admin/keys/${(await newKey(['audit'])).id}` }),

  'GET /admin/admins': get('/admin/admins'),
  'POST /admin/admins': ({ newName }) => ({
    url: '/admin/admins',
    payload: { name: newName(), nickname: '', password: PASSWORD }
  }),
  'GET /admin/admins/:id': async ({ newAdmin }) => ({ url: `/admin/admins/${(await newAdmin()).id}` }),
  'PUT /admin/admins/:id': async ({ newAdmin }) => ({
    url: `/admin/admins/${(await newAdmin()).id}`,
    payload: { password: 'set by another administrator' }
  }),
  'DELETE /admin/admins/:id': async ({ newAdmin }) => ({ url: `/admin/admins/${(await newAdmin()).id}` }),

  'GET /data/_me': get('/data/_me'),
  'GET /data/_openapi.json': get('/data/_openapi.json'),
  'POST /data/_schema/tables': ({ newName }) => ({
    url: '/data/_schema/tables',
    payload: { name: newName(), label: '', fields: [field] }
  }),
  'POST /data/_schema/tables/:table/fields': (setup, state) => ({
    url: `/data/_schema/tables/${setup.tables[state].name}/fields`,
    payload: { field: { ...field, name: setup.newName() } }
  }),
  'GET /data/:table': (setup, state) => ({ url: dataUrl(setup, state) }),
  'POST /data/_batch': () => ({ url: '/data/_batch', payload: { operations: [] } }),
  'POST /data/:table/query': (setup, state) => ({ url: `${dataUrl(setup, state)}/query`, payload: {} }),
  'GET /data/:table/export': (setup, state) => ({ url: `${dataUrl(setup, state)}/export` }),
  'POST /data/:table/import': (setup, state) => ({ url: `${dataUrl(setup, state)}/import`, ...FILE }),
  'POST /data/:table/aggregate': (setup, state) => ({
    url: `${dataUrl(setup, state)}/aggregate`,
    payload: { compute: { n: { count: true } } }
  }),
  'GET /data/:table/schema': (setup, state) => ({ url: `${dataUrl(setup, state)}/schema` }),
  'GET /data/:table/records/:pk': (setup, state) => ({ url: `${dataUrl(setup, state)}/records/1` }),
  'GET /data/:table/records/:pk/referring': (setup, state) => ({
    url: `${dataUrl(setup, state)}/records/1/referring`
  }),
  'POST /data/:table/records': (setup, state) => ({
    url: `${dataUrl(setup, state)}/records`,
    payload: { name: 'new' }
  }),
  'PUT /data/:table/records/:pk': (setup, state) => ({
    url: `${dataUrl(setup, state)}/records/1`,
    payload: { name: setup.newName() }
  }),
  'PATCH /data/:table/records/:pk': (setup, state) => ({
    url: `${dataUrl(setup, state)}/records/1`,
    payload: { name: setup.newName() }
  }),
  'DELETE /data/:table/records/:pk': async (setup, state) => ({
    url: `${dataUrl(setup, state)}/records/${await setup.newRecord(setup.tables[state])}`
  }),
  'POST /data/:table/records/:pk/incr': (setup, state) => ({
    url: `${dataUrl(setup, state)}/records/1/incr`,
    payload: { field: 'n', count: 1 }
  }),
  'POST /data/:table/incr': (setup, state) => ({
    url: `${dataUrl(setup, state)}/incr`,
    payload: { pk: '1', field: 'n', count: 1 }
  })
}

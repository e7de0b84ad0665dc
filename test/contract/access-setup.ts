import type { AdminScope } from '../../schemas/admin-key.ts'
import type { Table } from '../../schemas/table.ts'
import type { IssuedToken, Permissions } from '../../schemas/token.ts'
import { type App, type Client, client, createTable, dataOf, issueKey, logIn } from '../helpers.ts'
import type { TableState } from './access-rules.ts'

export const FIRST_PASSWORD = 'the first one'
export const PASSWORD = 'correct horse'
export const METRICS_TOKEN = 'a-token-for-metrics'

const FIELDS = [
  { name: 'name', jsonType: 'string' },
  { name: 'n', jsonType: 'integer' }
] as const

export const FULL_ACCESS: Permissions = { tables: ['*'], actions: ['read', 'write'] }

/** Returns functions that create what requests need. Each call creates something new: no request affects the next. */
const createFactories = (admin: Client) => {
  let count = 0
  const newName = () => `new_${++count}`
  const newTable = () => createTable(admin, { name: newName(), fields: [...FIELDS] })
  const newRecord = async ({ id }: Table): Promise<number> =>
    dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom', n: 1 })).id
  return {
    newName,
    newTable,
    newRecord,
    /** Creates a table in the database that the service can import, and returns its name. */
    newUnregisteredTable: async () => {
      const { id, name } = await newTable()
      dataOf(await admin.delete(`/admin/tables/${id}?confirm=true`))
      return name
    },
    newToken: async (permissions = FULL_ACCESS): Promise<IssuedToken> =>
      dataOf(await admin.post('/admin/tokens', { name: 'token', permissions })),
    newKey: (scopes: readonly AdminScope[], expiresAt: number | null = null) => issueKey(admin, scopes, expiresAt),
    /** Returns the path of a new backup. */
    newBackup: async () => `/admin/backups/${dataOf(await admin.post('/admin/backups')).name}`,
    newAdmin: async (password = PASSWORD) => {
      const name = newName()
      const { id } = dataOf(await admin.post('/admin/admins', { name, nickname: '', password }))
      return { id: Number(id), name }
    }
  }
}

/** Logs an administrator in and changes the password to PASSWORD, so that it need not be changed any more. */
const logInAndChangePassword = async (app: App, name: string, oldPassword: string) => {
  const session = client(app, await logIn(app, name, oldPassword))
  dataOf(await session.put('/auth/password', { oldPassword, newPassword: PASSWORD }))
  return session
}

/** Prepares an app whose first administrator still has FIRST_PASSWORD. */
export const createSetup = async (app: App) => {
  const admin = await logInAndChangePassword(app, 'admin', FIRST_PASSWORD)
  const factories = createFactories(admin)
  const newTableWith = async (changes: object): Promise<Table> => {
    const table = await factories.newTable()
    await factories.newRecord(table)
    return dataOf(await admin.put(`/admin/tables/${table.id}`, changes))
  }
  const tables: Readonly<Record<TableState, Table>> = {
    editable: await newTableWith({ note: 'with the flags of a new table' }),
    'read-only': await newTableWith({ isEditable: false }),
    unpublished: await newTableWith({ isPublished: false })
  }
  return {
    ...factories,
    admin,
    tables,
    /** The path of a backup of these tables, for requests that do not change it. */
    backup: await factories.newBackup(),
    /** Makes a table editable and published. Returns a function that restores its flags. */
    makeEditable: async (state: TableState) => {
      const { id, isEditable, isPublished } = tables[state]
      const setFlags = async (flags: object) => dataOf(await admin.put(`/admin/tables/${id}`, flags))
      await setFlags({ isEditable: true, isPublished: true })
      return () => setFlags({ isEditable, isPublished })
    },
    /** Returns the session of a new administrator who must change the password, which is PASSWORD. */
    newSessionMustChange: async () => client(app, await logIn(app, (await factories.newAdmin()).name, PASSWORD)),
    /** Returns the session of a new administrator who has changed the password to PASSWORD. */
    newSession: async () => logInAndChangePassword(app, (await factories.newAdmin('initial one')).name, 'initial one')
  }
}

export type Setup = Awaited<ReturnType<typeof createSetup>>

import type { Table } from '../../schemas/table.ts'
import type { IssuedToken, Permissions } from '../../schemas/token.ts'
import { type App, type Client, client, createTable, dataOf, logIn } from '../helpers.ts'

export const FIRST_PASSWORD = 'the first one'
export const PASSWORD = 'correct horse'

const FIELDS = [
  { name: 'name', jsonType: 'string' },
  { name: 'n', jsonType: 'integer' }
] as const

const EVERYTHING: Permissions = { tables: ['*'], actions: ['read', 'write'] }

/** Makes what requests are about. Each call makes something new, so that no request spoils the next. */
const createMaker = (admin: Client) => {
  let made = 0
  const newName = () => `new_${++made}`
  const newTable = () => createTable(admin, { name: newName(), fields: [...FIELDS] })
  const newRecord = async ({ id }: Table): Promise<number> =>
    dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom', n: 1 })).id
  return {
    newName,
    newTable,
    newRecord,
    /** One that the database has, and no registration. */
    newStoredTable: async () => {
      const { id, name } = await newTable()
      dataOf(await admin.delete(`/admin/tables/${id}?confirm=true`))
      return name
    },
    newToken: async (permissions = EVERYTHING, expiresAt: number | null = null): Promise<IssuedToken> =>
      dataOf(await admin.post('/admin/tokens', { name: 'token', permissions, expiresAt })),
    newAdmin: async (password = PASSWORD) => {
      const name = newName()
      const { id } = dataOf(await admin.post('/admin/admins', { name, nickname: '', password }))
      return { id: Number(id), name }
    }
  }
}

/** A session whose password, from now on PASSWORD, nobody else has set. */
const settle = async (app: App, name: string, oldPassword: string) => {
  const session = client(app, await logIn(app, name, oldPassword))
  dataOf(await session.put('/auth/password', { oldPassword, newPassword: PASSWORD }))
  return session
}

/** Of an app whose first password is FIRST_PASSWORD, still to be changed. */
export const createWorkshop = async (app: App) => {
  const admin = await settle(app, 'admin', FIRST_PASSWORD)
  const maker = createMaker(admin)
  const newTableThat = async (flags: object): Promise<Table> => {
    const table = await maker.newTable()
    await maker.newRecord(table)
    return dataOf(await admin.put(`/admin/tables/${table.id}`, flags))
  }
  const tables = {
    open: await newTableThat({ note: 'as it was made' }),
    frozen: await newTableThat({ isEditable: false }),
    private: await newTableThat({ isPublished: false })
  }
  return {
    ...maker,
    admin,
    tables,
    /** Lets tokens do everything with a table; what it gives puts that to an end. */
    openUp: async (state: keyof typeof tables) => {
      const { id, isEditable, isPublished } = tables[state]
      const set = async (flags: object) => dataOf(await admin.put(`/admin/tables/${id}`, flags))
      await set({ isEditable: true, isPublished: true })
      return () => set({ isEditable, isPublished })
    },
    /** The session of a new administrator, whose password is PASSWORD and has been set by another. */
    newMustChange: async () => client(app, await logIn(app, (await maker.newAdmin()).name, PASSWORD)),
    /** The session of a new administrator, whose password is PASSWORD and his own. */
    newSession: async () => settle(app, (await maker.newAdmin('set by another')).name, 'set by another')
  }
}

export type Workshop = Awaited<ReturnType<typeof createWorkshop>>

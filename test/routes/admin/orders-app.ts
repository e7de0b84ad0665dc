import type { Test } from 'tap'
import type { Grant } from '../../../schemas/role.ts'
import { asAdmin, bearer, client, createDatabase, dataOf, importTable, startApp } from '../../helpers.ts'

const SQL = `
  CREATE TABLE orders (id INTEGER PRIMARY KEY, owner TEXT, secret TEXT);
  INSERT INTO orders VALUES (1, 'ann', 'x'), (2, 'ben', 'y');
  CREATE TABLE old (id INTEGER PRIMARY KEY);`

/** Opens the orders of the owner in the claim, without the field `secret`. */
export const OWN: Grant = {
  tables: ['orders'],
  actions: ['read'],
  rows: { where: { owner: { eq: { $claim: 'owner' } } } },
  fields: { read: ['id', 'owner'] }
}

/** Starts a service with the registered table `orders`, and `old`, which is not registered. */
export const startOrders = async (t: Test) => {
  const file = createDatabase(t, SQL)
  const lines: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => lines.push(line) } }
  const app = await startApp(t, { env: { DATABASE: file }, logger })
  const admin = await asAdmin(app)
  const orders = `/admin/tables/${(await importTable(admin, 'orders')).id}`
  const newRole = async (name: string, grants: readonly Grant[]) =>
    dataOf(await admin.post('/admin/roles', { name, grants }))
  /** Issues a token with the role, whose claim is the owner `ann`. */
  const keyOf = async (role: string) => {
    const { token } = dataOf(await admin.post('/admin/tokens', { name: role, role, claims: { owner: 'ann' } }))
    return client(app, bearer(token))
  }
  return { app, admin, file, lines, orders, newRole, keyOf }
}

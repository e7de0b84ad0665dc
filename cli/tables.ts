import type { Table } from '../schemas/table.ts'
import type { LocalClient } from './local-client.ts'

/** Returns the registered table of this name. @throws an Error if there is none */
export const findTable = async (client: LocalClient, name: string) => {
  const tables = (await client.call('GET', '/admin/tables')) as Table[]
  const table = tables.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (table) return table
  throw new Error(`There is no registered table '${name}'. Register it in the console, or with rowhouse serve --adopt.`)
}

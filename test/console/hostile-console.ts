import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Table } from '../../schemas/table.ts'
import { client, createDatabase, dataOf, logIn as logInByCall, PASSWORD } from '../helpers.ts'
import { keepPassword, loggedIn, startConsole } from './console.ts'
import { createHostileTables, TEXTS, watchPage } from './hostile-texts.ts'

export const NAMES = Object.values(TEXTS)

/** The first table is not imported. */
export const [IMPORTABLE = '', ...IMPORTED] = NAMES

export const ADMIN = '"><img src=x onerror=alert(1)> \u05e9\u05dc\u05d5\u05dd z\u0300\u0323'.padEnd(100, 'x')

/** The key of TEXTS that has this text. */
export const kindOf = (name: string) => Object.keys(TEXTS).find((kind) => TEXTS[kind] === name) ?? ''

export const go = async (page: Page, path: string) => {
  await page.goto(new URL(`/console/${path}`, page.url()).href)
  await page.getByRole('heading', { level: 1 }).waitFor()
}

/** Starts a console whose tables, tokens and administrator have hostile names. */
export const startHostileConsole = async (t: Test) => {
  const database = createDatabase(t, '')
  createHostileTables(database)
  const { app, admin, open, file } = await startConsole(t, { database })
  dataOf(await admin.post('/admin/admins', { name: ADMIN, nickname: TEXTS.markup, password: PASSWORD }))

  const own = client(app, await logInByCall(app, ADMIN))
  await keepPassword(own)

  dataOf(await admin.post('/admin/tables/import', { names: IMPORTED }))
  const tables: readonly Table[] = dataOf(await admin.get('/admin/tables'))
  for (const { id, name } of tables) dataOf(await admin.post(`/admin/tables/${id}/indexes`, { fields: [name] }))
  const permissions = { tables: IMPORTED, actions: ['read', 'write'] }
  const tokens: { readonly id: number }[] = []
  for (const name of NAMES)
    tokens.push(dataOf(await admin.post('/admin/tokens', { name: name.slice(0, 100), permissions })))

  const [first = '', ...others] = NAMES
  const condition = { [first]: { eq: { $claim: first } } }
  const grants = [
    { tables: [...IMPORTED, '*'], actions: ['read'], rows: { where: condition, via: { [first]: {} } } },
    { tables: IMPORTED, actions: ['create'], rows: { where: condition }, presets: { [first]: first, gone: 1 } },
    { tables: IMPORTED, actions: ['update'], fields: { read: NAMES, write: others } }
  ]
  const roles: { readonly id: number; readonly name: string }[] = []
  for (const text of NAMES) {
    const name = text.slice(0, 100)
    roles.push(dataOf(await admin.post('/admin/roles', { name, grants })))
    const claims = { [text]: text.slice(0, 100), list: NAMES }
    tokens.push(
      dataOf(await admin.post('/admin/tokens', { name: `role of ${name}`.slice(0, 100), role: name, claims }))
    )
  }

  const openAsAdmin = async (t: Test, path: string) => {
    const page = await open(t, path, { storageState: await loggedIn(app, ADMIN) })
    page.setDefaultTimeout(10_000)
    watchPage(t, page)
    return page
  }
  const pathOf = (kind: string) => `tables/${tables.find(({ name }) => name === TEXTS[kind])?.id}`
  return { file, tables, tokens, roles, openAsAdmin, pathOf }
}

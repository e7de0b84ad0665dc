import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { temporaryDirectory } from './fixtures.ts'
import { asAdmin, dataOf, startApp } from './helpers.ts'
import { plainNode } from './plain-process.ts'

/** Creates the example database of the README. Returns the output of the program. */
export const createShop = (directory: string) => {
  const [command, ...args] = [...plainNode(), resolve('examples/make-shop.js')]
  return execFileSync(command, args, { cwd: directory, encoding: 'utf8' })
}

/** Starts the service with all tables of the example database. */
export const startShopApp = async (t: Test) => {
  const directory = temporaryDirectory(t)
  createShop(directory)
  const app = await startApp(t, { env: { DATABASE: join(directory, 'shop.sqlite') } })
  const admin = await asAdmin(app)
  dataOf(await admin.post('/admin/tables/import', { names: ['*'] }))
  return { app, admin }
}

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { createPages, photograph } from '../browser/chromium.ts'
import { type App, asAdmin, PASSWORD, startApp, temporaryDirectory } from '../helpers.ts'

export { photograph, skip } from '../browser/chromium.ts'

export type Theme = 'light' | 'dark'

interface ConsoleOptions {
  readonly database?: string
  readonly env?: Readonly<Record<string, string>>
  readonly hasScrollbars?: boolean
}

/** Starts a service on a copy of a database, which listens, and returns how to open its console. */
export const startConsole = async (t: Test, { database, env = {}, hasScrollbars = false }: ConsoleOptions = {}) => {
  const copy = join(temporaryDirectory(t), 'data.db')
  if (database !== undefined) copyFileSync(database, copy)
  const app: App = await startApp(t, { env: { ...(database !== undefined && { DATABASE: copy }), ...env } })
  const admin = await asAdmin(app)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const openPage = createPages(t, { hasScrollbars })

  /** Opens a page of the console, without a session. */
  const open = (test: Test, path = '', options: BrowserContextOptions = {}) =>
    openPage(test, `${url}/console/${path}`, options)

  /** Opens a page of the console as an administrator. */
  const openAsAdmin = async (test: Test, path = '', options: BrowserContextOptions = {}) => {
    const page = await open(test, path, options)
    await logIn(page)
    return page
  }
  return { app, admin, url, file: copy, open, openAsAdmin }
}

/** Fills in the login form. The first administrator may keep the first password. */
export const logIn = async (page: Page, name = 'admin', password = PASSWORD) => {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.locator('nav').first().waitFor({ state: 'attached' })
  const account = await page.request.get(new URL('/auth/me', page.url()).href)
  if ((await account.json()).data.mustChangePassword) await page.getByRole('button', { name: 'Later' }).click()
}

/** Waits until nothing moves: while a colour fades in, its contrast differs from that which stays. */
export const settle = (page: Page) =>
  page.evaluate('Promise.allSettled(document.getAnimations().map((animation) => animation.finished)).then(() => null)')

/** Writes a picture of a page in each theme. */
export const photographBoth = async (page: Page, name: string) => {
  if (!process.env.SCREENSHOTS) return
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await page.locator(`html[data-theme=${theme}]`).waitFor()
    await settle(page)
    await photograph(page, `${name}-${theme}`)
  }
  await page.emulateMedia({ colorScheme: null })
}

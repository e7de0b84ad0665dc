import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { createPages, photograph } from '../browser/chromium.ts'
import {
  type App,
  asAdmin,
  type Client,
  dataOf,
  logIn as logInByCall,
  PASSWORD,
  startApp,
  temporaryDirectory
} from '../helpers.ts'

export { photograph, skip } from '../browser/chromium.ts'

export type Theme = 'light' | 'dark'

interface ConsoleOptions {
  readonly database?: string
  readonly env?: Readonly<Record<string, string>>
  readonly hasScrollbars?: boolean
  /** Keeps the first password, which the console asks to change. */
  readonly hasFirstPassword?: boolean
}

const OTHER_PASSWORD = 'another horse'

/** Changes the first password and back, so that the console does not ask for a new one. */
export const keepPassword = async (admin: Client) => {
  dataOf(await admin.put('/auth/password', { oldPassword: PASSWORD, newPassword: OTHER_PASSWORD }))
  dataOf(await admin.put('/auth/password', { oldPassword: OTHER_PASSWORD, newPassword: PASSWORD }))
}

/** Logs in, and returns the state of a browser with this session. */
export const loggedIn = async (app: App, name?: string) => {
  const { cookie } = await logInByCall(app, name)
  const [key = '', value = ''] = cookie.split('=')
  const attributes = { domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false }
  return { cookies: [{ name: key, value, ...attributes, sameSite: 'Strict' as const }], origins: [] }
}

/** Starts a service on a copy of a database, which listens, and returns how to open its console. */
export const startConsole = async (t: Test, options: ConsoleOptions = {}) => {
  const { database, env = {}, hasScrollbars = false, hasFirstPassword = false } = options
  const copy = join(temporaryDirectory(t), 'data.db')
  if (database !== undefined) copyFileSync(database, copy)
  const app = await startApp(t, { env: { ...(database !== undefined && { DATABASE: copy }), ...env } })
  const admin = await asAdmin(app)
  if (!hasFirstPassword) await keepPassword(admin)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const openPage = createPages(t, { hasScrollbars })

  /** Opens a page of the console, without a session. */
  const open = (test: Test, path = '', options: BrowserContextOptions = {}) =>
    openPage(test, `${url}/console/${path}`, options)

  /** Opens a page of the console in a session of its own. */
  const openAsAdmin = async (test: Test, path = '', options: BrowserContextOptions = {}) => {
    const page = await open(test, path, { storageState: await loggedIn(app), ...options })
    await page.locator('nav').first().waitFor({ state: 'attached' })
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

/** Returns a promise, and what resolves it. */
const createSignal = () => {
  let send = () => {}
  const promise = new Promise<void>((resolve) => {
    send = resolve
  })
  return { promise, send }
}

/** Holds the response of the first matching request. `handled`: the service has sent it. `release` passes it on. */
export const holdResponse = async (page: Page, method: string, url: string) => {
  const handled = createSignal()
  const released = createSignal()
  let isFirst = true
  await page.route(url, async (route) => {
    if (!isFirst || route.request().method() !== method) return route.continue()
    isFirst = false
    const response = await route.fetch()
    handled.send()
    await released.promise
    return route.fulfill({ response })
  })
  return { handled: handled.promise, release: released.send }
}

const NARROW = { width: 390, height: 800 }

/** Writes a picture of a page in each theme, and one of a narrow screen. */
export const photographPage = async (page: Page, name: string) => {
  if (!process.env.SCREENSHOTS) return
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await page.locator(`html[data-theme=${theme}]`).waitFor()
    await settle(page)
    await photograph(page, `${name}-${theme}`)
  }
  await page.emulateMedia({ colorScheme: null })
  const size = page.viewportSize()
  await page.setViewportSize(NARROW)
  await settle(page)
  await photograph(page, `${name}-narrow`)
  if (size) await page.setViewportSize(size)
}

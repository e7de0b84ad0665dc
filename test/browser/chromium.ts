import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'

/** The first is Chromium without windows. It needs a third less CPU time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

const isExecutable = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find(isExecutable)

/** The `skip` option of tests that need Chromium. */
export const skip = executablePath === undefined ? 'Chromium is not installed' : false

interface ChromiumOptions {
  /** Shows scrollbars, which playwright hides. */
  readonly hasScrollbars?: boolean
}

/** Returns a function that opens pages in Chromium, which ends with `t`. */
export const createPages = (t: Test, { hasScrollbars = false }: ChromiumOptions = {}) => {
  let browser: Browser | undefined
  t.teardown(() => browser?.close())

  const launch = async () => {
    browser ??= await chromium.launch({
      ...(executablePath !== undefined && { executablePath }),
      ...(hasScrollbars && { ignoreDefaultArgs: ['--hide-scrollbars'] }),
      // A container has no sandbox for root, and little shared memory.
      args: ['--no-sandbox', '--disable-dev-shm-usage']
    })
    return browser
  }

  /**
   * Opens a page in a context of its own. A violation of its Content-Security-Policy, an exception in its scripts, or a
   * request to another host than that of `url` fails `test`.
   */
  return async (test: Test, url: string, options: BrowserContextOptions = {}) => {
    const context = await (await launch()).newContext(options)
    test.teardown(() => context.close())
    const page = await context.newPage()
    page.on('pageerror', (error) => test.fail(`exception: ${error.message}`))
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) test.fail(message.text())
    })
    page.on('request', (request) => {
      if (/^(?:data:|blob:)/.test(request.url())) return
      if (new URL(request.url()).host !== new URL(url).host) test.fail(`a request to ${request.url()}`)
    })
    await page.goto(url)
    return page
  }
}

/** Writes a picture into the folder of the variable SCREENSHOTS, for a person who looks at the page. */
export const photograph = async (page: Page, name: string) => {
  const folder = process.env.SCREENSHOTS
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) })
}

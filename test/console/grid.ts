import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'

export const cell = (page: Page, name: string) => page.getByRole('gridcell', { name, exact: true })

export const status = (page: Page, text: string | RegExp) => page.locator('footer').getByText(text).first().waitFor()

export const column = (page: Page, name: string) => page.getByRole('columnheader', { name })

/** Waits until no cell is being saved. */
export const saved = (page: Page) => page.locator('main:not(:has([class*=saving]))').waitFor()

/** Replaces the value of a cell. */
export const enter = async (page: Page, content: string, value: string) => {
  await cell(page, content).click()
  await page.keyboard.type(value)
  await page.keyboard.press('Enter')
}

/**
 * Holds the requests for records with this method until `release` is called. `sent`: their bodies.
 * `waitForSent` waits until there are so many.
 */
export const holdRequests = async (page: Page, method: 'GET' | 'POST' | 'PUT' | 'DELETE') => {
  const sent: unknown[] = []
  let release = () => {}
  const waitForSent = async (count: number) => {
    while (sent.length < count) await setTimeout(10)
  }
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(/\/data(?:[/?]|$)/, async (route) => {
    if (route.request().method() !== method) return route.continue()
    sent.push(route.request().postDataJSON())
    await released
    await route.continue()
  })
  return { sent, waitForSent, release }
}

/** Scrolls as the scrollbar does. */
export const scrollTo = (page: Page, part: number) =>
  page.evaluate(`{
    const grid = document.querySelector('[role=grid]')
    grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * ${part}
  }`)

/** Maximum rows of the requests that wait for a response. */
export const MAX_WAITING_ROWS = 60

/** Counts the requests for records, and the rows of those that wait for a response. */
export const watchRequests = (page: Page) => {
  const state = { waiting: 0, most: 0, requests: 0 }
  const rowsOf = (url: string) => (/\/data\?/.test(url) ? Number(new URL(url).searchParams.get('size')) : 0)
  const end = (request: { url: () => string }) => {
    state.waiting -= rowsOf(request.url())
  }
  page.on('request', (request) => {
    const rows = rowsOf(request.url())
    state.waiting += rows
    state.requests += rows > 1 ? 1 : 0
    state.most = Math.max(state.most, state.waiting)
  })
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return state
}

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { settle } from './console.ts'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const NARROW = { width: 390, height: 800 }
const THEMES = ['light', 'dark'] as const

/** Scripts of `evaluate` run despite the Content-Security-Policy. */
const violationsOf = async (page: Page) => {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source)
  const results = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })')
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({ id, help, target: target.join(' '), failureSummary }))
  )
}

/** What may not scroll sideways: the page, its content below the title, dialogs and panels. */
const FITTING = 'html, main, [data-page-body], [role=dialog]'

/** How many pixels of these are beyond the right edge. */
export const HIDDEN_WIDTH = `Math.max(...[...document.querySelectorAll('${FITTING}')].map(
  (element) => element.scrollWidth - element.clientWidth))`

/** Asserts that a page fits on a narrow screen. */
export const expectNarrow = async (t: Test, page: Page) => {
  const size = page.viewportSize()
  await page.setViewportSize(NARROW)
  t.equal(await page.evaluate<number>(HIDDEN_WIDTH), 0, `the page fits on a screen of ${NARROW.width} pixels`)
  if (size) await page.setViewportSize(size)
}

/** Asserts that axe finds nothing on a page in both themes, and that the page fits on a narrow screen. */
export const expectAccessible = async (t: Test, page: Page) => {
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme })
    await page.locator(`html[data-theme=${theme}]`).waitFor()
    await settle(page)
    t.strictSame(await violationsOf(page), [], `axe finds nothing, ${theme}`)
  }
  await page.emulateMedia({ colorScheme: null })
  await expectNarrow(t, page)
}

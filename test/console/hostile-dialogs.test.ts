import type { Page } from 'playwright-core'
import t from 'tap'
import { photographPage, skip } from './console.ts'
import { go, kindOf, startHostileConsole } from './hostile-console.ts'
import { expectSafe } from './hostile-texts.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { tables, openAsAdmin } = await startHostileConsole(t)

  const cancel = async (page: Page) => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  t.test('dialogs of tables with hostile names', async (t) => {
    const page = await openAsAdmin(t, '')
    for (const { id, name } of tables) {
      const kind = kindOf(name)
      const show = async (button: string, exact = true) => {
        await page.getByRole('button', { name: button, exact }).first().click()
        await page.getByRole('dialog').waitFor()
        await expectSafe(t, page, `${button} of ${kind}`)
        await photographPage(page, `hostile-${kind}-${button.slice(0, 6).toLowerCase()}`)
        await cancel(page)
      }
      await go(page, `tables/${id}`)
      await page.getByRole('gridcell').nth(5).waitFor()
      for (const button of ['Filter', 'Export', 'Import']) await show(button)
      await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click()
      await show(`Delete 1 record from ${name}`)
      await go(page, `tables/${id}/structure`)
      for (const button of [`Edit ${name}`, `Drop ${name}`, 'Drop the index of', 'Rename', `Unregister ${name}`])
        await show(button, button === 'Rename')
    }
  })
}

import t from 'tap'
import { photographPage, skip } from './console.ts'
import { go, kindOf, NAMES, startHostileConsole } from './hostile-console.ts'
import { expectSafe, KEYS, readContent, TEXTS } from './hostile-texts.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { file, openAsAdmin, pathOf } = await startHostileConsole(t)

  t.test('records with hostile keys are opened and saved', async (t) => {
    const page = await openAsAdmin(t, '')
    for (const kind of ['path', 'prototype']) {
      for (const [index, key] of KEYS.entries()) {
        await go(page, `${pathOf(kind)}?record=${encodeURIComponent(key)}`)
        const text = `saved ${index}`
        await page.getByLabel('content', { exact: true }).fill(text)
        await page.getByRole('button', { name: 'Save' }).click()
        const saved = page.getByText(/^Saved /).first()
        const isSaved = await saved.waitFor().then(
          () => true,
          () => false
        )
        t.ok(isSaved, `${kind}: the record ${key} is saved`)
        t.equal(readContent(file, TEXTS[kind] ?? '', key), text)
      }
    }
  })

  t.test('a filter by a field with a hostile name, and a sort, find records', async (t) => {
    const page = await openAsAdmin(t, '')
    await go(page, pathOf('path'))
    for (const name of NAMES) {
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Filter records' })
      await dialog.getByLabel('Field').selectOption(name)
      await dialog.getByLabel('Value').fill(name)
      await dialog.getByRole('button', { name: 'Apply' }).click()
      await page.locator('footer').getByText(`${KEYS.length} matching records`).waitFor()
      await expectSafe(t, page, `filter by ${kindOf(name)}`)
      await page.reload()
      await page.locator('footer').getByText(`${KEYS.length} matching records`).waitFor()
      await page.getByRole('button', { name: 'Remove the filter' }).click()
      await go(page, `${pathOf('path')}?order=${encodeURIComponent(`-${name}`)}`)
      await page.locator('footer').getByText(`${KEYS.length} records`).waitFor()
      t.equal(await page.getByRole('alert').count(), 0, `sort by ${kindOf(name)}`)
    }
  })

  t.test('a file with hostile names and values is shown before it is sent', async (t) => {
    const page = await openAsAdmin(t, 'tables/from-file')
    const csv = [NAMES, NAMES].map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n')
    await page.locator('input[type=file]').setInputFiles({
      name: `${TEXTS.markup}.csv`,
      mimeType: 'text/csv',
      buffer: Buffer.from(csv)
    })
    await page
      .getByText(TEXTS.markup ?? '')
      .first()
      .waitFor()
    await expectSafe(t, page, 'from-file')
    await photographPage(page, 'hostile-from-file')
  })
}

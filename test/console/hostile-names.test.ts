import t from 'tap'
import { photographPage, skip } from './console.ts'
import { ADMIN, go, IMPORTABLE, IMPORTED, kindOf, NAMES, startHostileConsole } from './hostile-console.ts'
import { expectSafe, KEYS, TEXTS } from './hostile-texts.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { tables, tokens, roles, openAsAdmin } = await startHostileConsole(t)

  t.test('the service has taken all names', async (t) => {
    t.strictSame(new Set(tables.map(({ name }) => name)), new Set(IMPORTED))
    t.equal(tokens.length, 2 * NAMES.length)
  })

  t.test('pages of tables with hostile names and contents', async (t) => {
    const page = await openAsAdmin(t, '')
    for (const { id, name } of tables) {
      const kind = kindOf(name)
      await go(page, `tables/${id}`)
      await page.getByRole('gridcell').nth(5).waitFor()
      t.equal(await page.getByRole('heading', { level: 1 }).textContent(), name)
      await expectSafe(t, page, `records of ${kind}`)
      await photographPage(page, `hostile-${kind}`)
      await go(page, `tables/${id}?record=${encodeURIComponent(KEYS[0] ?? '')}`)
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).waitFor()
      await expectSafe(t, page, `a record of ${kind}`)
      await photographPage(page, `hostile-${kind}-record`)
      await go(page, `tables/${id}/structure`)
      await page.getByRole('button', { name: 'Drop the index of' }).first().waitFor()
      await expectSafe(t, page, `the structure of ${kind}`)
      await photographPage(page, `hostile-${kind}-structure`)
      await go(page, `tables/${id}/api`)
      await page.getByRole('heading', { level: 3 }).first().waitFor()
      await expectSafe(t, page, `the calls of ${kind}`)
      await photographPage(page, `hostile-${kind}-api`)
      await go(page, `tokens/new?table=${encodeURIComponent(name)}`)
      t.ok(await page.getByRole('checkbox', { name, exact: true }).isChecked(), `a token for ${kind}`)
    }
  })

  t.test('pages of roles, with hostile names', async (t) => {
    const page = await openAsAdmin(t, 'roles')
    await page
      .getByRole('link', { name: TEXTS.path ?? '' })
      .first()
      .waitFor()
    await expectSafe(t, page, 'roles')
    await photographPage(page, 'hostile-roles')
    for (const { id, name } of roles) {
      await go(page, `roles/${id}`)
      for (const place of [1, 2, 3]) await page.getByRole('button', { name: new RegExp(`^Grant ${place}`) }).click()
      await page.getByLabel('Field of preset 1').waitFor()
      t.equal(await page.getByRole('heading', { level: 1 }).textContent(), name)
      await expectSafe(t, page, `role ${name}`)
      await photographPage(page, `hostile-role-${id}`)
    }
  })

  t.test('the other pages, with hostile names', async (t) => {
    const page = await openAsAdmin(t, '')
    const paths = [
      '',
      'tokens',
      ...tokens.map(({ id }) => `tokens/${id}`),
      'admins',
      'account',
      'tables/import',
      'tables/new'
    ]
    for (const path of paths) {
      await go(page, path)
      await page
        .getByRole('navigation')
        .getByRole('link', { name: TEXTS.path ?? '' })
        .waitFor({ state: 'attached' })
      await expectSafe(t, page, path)
      await photographPage(page, `hostile-${path.replaceAll('/', '-')}`)
    }
    await go(page, 'tables/import')
    await page.getByRole('button', { name: `Fields of ${IMPORTABLE}` }).click()
    await page.getByLabel(`Hide ${TEXTS.path} from tokens`).waitFor()
    await expectSafe(t, page, 'import')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Commands' }).fill('over')
    await page.getByRole('option', { name: TEXTS.rightToLeft ?? '', exact: true }).waitFor()
    await expectSafe(t, page, 'commands')
    await page.keyboard.press('Enter')
    await go(page, 'admins')
    await page.getByRole('button', { name: `Delete ${ADMIN}` }).click()
    await expectSafe(t, page, 'delete of an administrator')
    await photographPage(page, 'hostile-admin-delete')
  })
}

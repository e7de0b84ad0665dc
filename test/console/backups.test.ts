import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Page, Request } from 'playwright-core'
import t from 'tap'
import { databaseOf } from '../../config.ts'
import { createTable, dataOf, type TestResponse, temporaryDirectory } from '../helpers.ts'
import { expectAccessible } from './accessible.ts'
import { holdResponse, logIn, photographPage, skip, startConsole } from './console.ts'

const LIST = '**/admin/backups'
const MEBIBYTE = 2 ** 20

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const isGet = (request: Request) => request.method() === 'GET'

/** Responds to lists with these data, and to nothing else. */
const stubList = (page: Page, data: object) =>
  page.route(LIST, (route) =>
    isGet(route.request()) ? route.fulfill({ json: { success: true, data } }) : route.fallback()
  )

const runningOf = (kind: string, copiedBytes: number) => ({
  kind,
  startedAt: Date.now(),
  copiedBytes,
  totalBytes: 40 * MEBIBYTE
})

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { app, admin, openAsAdmin } = await startConsole(t)
  await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
  const listed = async (): Promise<{ name: string; bytes: number }[]> =>
    dataOf(await admin.get('/admin/backups')).backups

  const makeBackup = async (): Promise<{ name: string; bytes: number }> => dataOf(await admin.post('/admin/backups'))

  t.test('an empty list says what a backup is, and how to schedule one', async (t) => {
    const page = await openAsAdmin(t, 'backups')
    await page.getByRole('heading', { name: 'There is no backup yet.' }).waitFor()
    await page.getByText('BACKUPS="0 3 * * *"').waitFor()
    await photographPage(page, 'backups-empty')
    await expectAccessible(t, page)
  })

  t.test('a backup is made by hand, listed and downloaded', async (t) => {
    const page = await openAsAdmin(t, 'backups')
    await button(page, 'Back up now').click()
    await page.getByText(/^The backup is made: /).waitFor()
    const [backup] = await listed()
    const { name = '', bytes } = backup ?? {}
    await page.getByRole('row', { name: /By hand/ }).waitFor()
    await expectAccessible(t, page)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: `Download ${name}` }).click()
    ])
    t.equal(file.suggestedFilename(), name)
    const content = readFileSync(await file.path())
    t.equal(content.length, bytes)
    t.match(content.toString('latin1', 0, 15), 'SQLite format 3')
  })

  t.test('each kind of a backup has a name, and an unknown kind is shown as it is', async (t) => {
    const page = await openAsAdmin(t)
    const kinds = ['scheduled', 'manual', 'upload', 'before-restore', 'before-upgrade', 'of-tomorrow']
    const at = Date.parse('2026-11-26T03:00:00Z')
    const backups = kinds.map((kind, day) => ({
      name: `2026-11-${26 - day}T03-00-00Z-${kind}.db`,
      kind,
      createdAt: at - day * 86_400_000,
      bytes: 1_234_567 * 10 ** day
    }))
    await stubList(page, { backups })
    await page.getByRole('link', { name: 'Backups' }).click()
    const rows = page.getByRole('table', { name: 'Backups' }).getByRole('row')
    await rows.nth(6).waitFor()
    const names = await rows.locator('td:nth-of-type(1)').allTextContents()
    t.strictSame(names, ['By schedule', 'By hand', 'Upload', 'Before a restore', 'Before an upgrade', 'of-tomorrow'])
    t.equal(await rows.nth(2).locator('td').nth(1).textContent(), '12.3 MB')
    await photographPage(page, 'backups')
    await expectAccessible(t, page)
  })

  t.test('the progress of a backup is shown until it is made', async (t) => {
    const page = await openAsAdmin(t)
    await stubList(page, { backups: [], running: runningOf('scheduled', 10 * MEBIBYTE) })
    await page.getByRole('link', { name: 'Backups' }).click()
    await page.getByText('By schedule: 10.5 MB of 41.9 MB').waitFor()
    t.equal(await page.getByRole('progressbar').getAttribute('value'), '0.25')
    t.ok(await button(page, 'Back up now').isDisabled(), 'one backup is made at a time')
    await photographPage(page, 'backups-running')
    await expectAccessible(t, page)
    await page.unroute(LIST)
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    t.notOk(await button(page, 'Back up now').isDisabled())
  })

  t.test('a backup that begins is shown before the list has it', async (t) => {
    const page = await openAsAdmin(t, 'backups')
    const { handled, release } = await holdResponse(page, 'POST', LIST)
    await button(page, 'Back up now').click()
    await page.getByText('The backup begins …').waitFor()
    await handled
    release()
    await page.getByText(/^The backup is made: /).waitFor()
  })

  t.test('a backup goes on if its connection breaks, and fails if it does not', async (t) => {
    const page = await openAsAdmin(t, 'backups')
    await button(page, 'Back up now').waitFor()
    await stubList(page, { backups: [], running: runningOf('manual', MEBIBYTE) })
    const breakPost = () => page.route(LIST, (route) => (isGet(route.request()) ? route.fallback() : route.abort()))
    await breakPost()
    await button(page, 'Back up now').click()
    await page.getByText('The connection broke. The backup goes on, and appears in the list.').waitFor()
    await page.unroute(LIST)
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    await breakPost()
    await button(page, 'Back up now').click()
    await page.getByText('The backup was not made.').first().waitFor()
    await page.getByText('The service cannot be reached.').first().waitFor()
  })

  t.test('a refused backup shows the sentence of the service', async (t) => {
    const page = await openAsAdmin(t, 'backups')
    const error = { code: 'BACKUP_RUNNING', message: 'Another backup is being made.', hint: 'Wait.' }
    await page.route(LIST, (route) =>
      isGet(route.request()) ? route.fallback() : route.fulfill({ status: 409, json: { success: false, error } })
    )
    await button(page, 'Back up now').click()
    await page.getByText('The backup was not made.').first().waitFor()
    await page.getByText('Another backup is being made. Wait.').first().waitFor()
  })

  t.test('a backup is deleted after a question that names it', async (t) => {
    const { name } = await makeBackup()
    const page = await openAsAdmin(t, 'backups')
    await button(page, `Delete ${name}`).click()
    const question = page.getByRole('dialog', { name: /^Delete the backup of .*\?$/ })
    await question.getByText(name).waitFor()
    await photographPage(page, 'backup-delete')
    await expectAccessible(t, page)
    await button(page, 'Cancel').click()
    t.ok(
      (await listed()).some((backup) => backup.name === name),
      'nothing is deleted before the answer'
    )
    await button(page, `Delete ${name}`).click()
    await button(page, 'Delete the backup').click()
    await page.getByText(`${name} is deleted.`).waitFor()
    await button(page, `Delete ${name}`).waitFor({ state: 'detached' })
    t.notOk((await listed()).some((backup) => backup.name === name))
  })

  t.test('a backup is uploaded, and a file that is none is refused', async (t) => {
    const { name } = await makeBackup()
    const { rawPayload }: TestResponse = await admin.get(`/admin/backups/${name}`)
    const file = join(temporaryDirectory(t), 'mine.db')
    writeFileSync(file, rawPayload)
    const page = await openAsAdmin(t, 'backups')
    await button(page, 'Upload a backup').click()
    const dialog = page.getByRole('dialog', { name: 'Upload a backup' })
    t.ok(await button(page, 'Upload').last().isDisabled(), 'there is nothing to send')
    const send = async (path: string) => {
      await dialog.locator('input[type=file]').setInputFiles(path)
      await dialog.getByRole('button', { name: 'Upload' }).click()
    }
    const text = join(temporaryDirectory(t), 'letter.db')
    writeFileSync(text, 'Dear backup, '.repeat(100))
    await send(text)
    await dialog.getByRole('alert').waitFor()
    await photographPage(page, 'backup-upload')
    await expectAccessible(t, page)
    await send(file)
    await page.getByText(/^The backup is stored as .*-upload\.db$/).waitFor()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'Upload', exact: true }).waitFor()
  })

  t.test('an upload that is sent continues without its dialog, and a notice says what happened', async (t) => {
    const { name } = await makeBackup()
    const { rawPayload } = await admin.get(`/admin/backups/${name}`)
    const page = await openAsAdmin(t, 'backups')
    await button(page, 'Upload a backup').click()
    const dialog = page.getByRole('dialog')
    const content = { name: 'a.db', mimeType: 'application/octet-stream', buffer: rawPayload }
    await dialog.locator('input[type=file]').setInputFiles(content)
    const lock = new BetterSqlite3(databaseOf(app.config))
    t.teardown(() => lock.close())
    lock.exec('BEGIN IMMEDIATE')
    await dialog.getByRole('button', { name: 'Upload' }).click()
    await dialog.getByText('The service checks the file.').waitFor()
    await button(page, 'Close').click()
    await dialog.waitFor({ state: 'detached' })
    lock.exec('ROLLBACK')
    await page.getByText(/^The backup is stored as .*-upload\.db$/).waitFor()
  })

  t.test('an upload that is cancelled stores nothing', async (t) => {
    const page = await openAsAdmin(t, 'backups')
    const before = await listed()
    await page.route('**/admin/backups/upload', () => {})
    await button(page, 'Upload a backup').click()
    const dialog = page.getByRole('dialog')
    const content = { name: 'a.db', mimeType: 'application/octet-stream', buffer: Buffer.from('SQLite format 3') }
    await dialog.locator('input[type=file]').setInputFiles(content)
    await dialog.getByRole('button', { name: 'Upload' }).click()
    await dialog.getByRole('progressbar').waitFor()
    await button(page, 'Cancel').click()
    await dialog.getByText('a.db').waitFor()
    t.equal(await dialog.getByRole('alert').count(), 0)
    t.strictSame(await listed(), before)
  })

  t.test('a restore takes the tables back, and says where the state before is', async (t) => {
    const { id } = await createTable(admin, { name: 'owners', fields: [{ name: 'name', jsonType: 'string' }] })
    const path = `/admin/tables/${id}/data`
    dataOf(await admin.post(path, { name: 'Ada' }))
    const { name } = await makeBackup()
    dataOf(await admin.post(path, { name: 'Bo' }))
    const page = await openAsAdmin(t, `tables/${id}`)
    await page.getByRole('gridcell', { name: 'Bo' }).waitFor()
    await page.getByRole('link', { name: 'Backups' }).click()
    await button(page, `Restore ${name}`).click()
    const question = page.getByRole('dialog', { name: /^Restore the backup of .*\?$/ })
    await question
      .getByText(/^All tables go back to .* Administrators, sessions, tokens, settings and the audit stay\.$/)
      .waitFor()
    const restore = button(page, 'Restore the backup')
    t.ok(await restore.isDisabled(), 'the name is not entered yet')
    await question.getByLabel(`Enter ${name} to confirm`).fill(name)
    t.notOk(await restore.isDisabled())
    await photographPage(page, 'backup-restore')
    await expectAccessible(t, page)
    await restore.click()
    await page.getByText(/^The tables are back at /).waitFor()
    const [before] = await listed()
    await page.getByText(`The state before is in ${before?.name}.`).waitFor()
    t.match(before?.name, /-before-restore\.db$/)
    await page.getByRole('row', { name: /Before a restore/ }).waitFor()
    t.strictSame(
      dataOf(await admin.get(path)).rows.map((record: { name: string }) => record.name),
      ['Ada']
    )
    await page.getByRole('link', { name: 'owners' }).click()
    await page.getByRole('gridcell', { name: 'Ada' }).waitFor()
    t.equal(await page.getByRole('gridcell', { name: 'Bo' }).count(), 0)
  })

  t.test('a refused restore stays in its dialog, with the sentence of the service', async (t) => {
    const { name } = await makeBackup()
    const page = await openAsAdmin(t, 'backups')
    const error = { code: 'IMPORT_RUNNING', message: 'A file is being imported.', hint: 'Wait until it is done.' }
    await page.route('**/restore', (route) => route.fulfill({ status: 409, json: { success: false, error } }))
    await button(page, `Restore ${name}`).click()
    await page.getByLabel(`Enter ${name} to confirm`).fill(name)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('alert').getByText('A file is being imported.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  t.test('a restore in progress cannot be left, and goes on if its connection breaks', async (t) => {
    const { name } = await makeBackup()
    const page = await openAsAdmin(t, 'backups')
    await button(page, `Restore ${name}`).click()
    await page.getByLabel(`Enter ${name} to confirm`).fill(name)
    await stubList(page, { backups: [], running: runningOf('before-restore', 30 * MEBIBYTE) })
    let breakOff = () => {}
    await page.route('**/restore', (route) => {
      breakOff = () => route.abort()
    })
    await button(page, 'Restore the backup').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Before a restore: 31.5 MB of 41.9 MB').waitFor()
    t.ok(await button(page, 'Cancel').isDisabled())
    await page.keyboard.press('Escape')
    await photographPage(page, 'backup-restoring')
    await expectAccessible(t, page)
    breakOff()
    await page
      .getByText('The connection broke. The restore goes on, and appears in the audit when it is done.')
      .waitFor()
    await dialog.waitFor({ state: 'detached' })
  })

  t.test('a restore with the administrators of the backup leads to the login', async (t) => {
    const { name } = await makeBackup()
    const page = await openAsAdmin(t, 'backups')
    await button(page, `Restore ${name}`).click()
    await page.getByLabel('Also take administrators and tokens of the backup').check()
    await page.getByText(/^All tables, administrators and tokens go back to /).waitFor()
    await page.getByText('All sessions end, and all tokens are switched off.').waitFor()
    await photographPage(page, 'backup-restore-access')
    await page.getByLabel(`Enter ${name} to confirm`).fill(name)
    await button(page, 'Restore the backup').click()
    await page.getByRole('heading', { name: 'Log in to Rowhouse' }).waitFor()
    t.equal((await admin.get('/admin/backups')).statusCode, 401)
    await logIn(page)
    await page.getByRole('link', { name: 'Backups' }).waitFor()
  })
}

import BetterSqlite3 from 'better-sqlite3'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { expectNarrow, HIDDEN_WIDTH } from './accessible.ts'
import { settle } from './console.ts'

const RUN = 'window.hasRun = true'

/** Texts that have broken pages, or the addresses of pages. SQLite allows all of them as names. */
export const TEXTS: Readonly<Record<string, string>> = {
  markup: `<img src=x onerror="${RUN}"> "><script>${RUN}</script>`,
  path: `../a/b?c=d&e#f%2F%00 'g' "h" \\i`,
  rightToLeft: '\u202eoverride \u2067\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627',
  unicode: `\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466} z${'\u0300\u0323'.repeat(20)} \u200b\ufeff\u00ad\ud83c\uddfa\uffff`,
  long: `long${'x'.repeat(190)}`,
  expression: '{{constructor.constructor("alert(1)")()}} $' + '{1} javascript:alert(1)',
  prototype: '__proto__'
}

/** The keys of the records of each table. */
export const KEYS: readonly string[] = [...Object.values(TEXTS), 'a,b', '%2F', '100%', ' ']

export const CONTENT = 'x'.repeat(10_000)

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Creates tables with each of the texts as the name of a table, of its columns, and as keys. Each has a foreign key to itself. */
export const createHostileTables = (file: string) => {
  const db = new BetterSqlite3(file)
  const texts = Object.values(TEXTS)
  for (const name of texts) {
    const columns = texts.map((text) => `${quoted(text)} TEXT DEFAULT '<b>'`).join(', ')
    const reference = `parent TEXT REFERENCES ${quoted(name)} (pk)`
    db.exec(`CREATE TABLE ${quoted(name)} (pk TEXT PRIMARY KEY, content TEXT, ${reference}, ${columns})`)
    db.exec(`CREATE INDEX ${quoted(`index ${name}`)} ON ${quoted(name)} (content, ${quoted(name)})`)
    const values = texts.map(() => '?').join(', ')
    const insert = db.prepare(`INSERT INTO ${quoted(name)} VALUES (?, ?, ?, ${values})`)
    for (const key of KEYS) insert.run(key, CONTENT, KEYS[0], ...texts)
  }
  db.close()
}

/** Reads one value as another program would. */
export const readContent = (file: string, table: string, key: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  const content = db
    .prepare(`SELECT content FROM ${quoted(table)} WHERE pk = ?`)
    .pluck()
    .get(key)
  db.close()
  return content
}

const FOREIGN = 'img, iframe, object, embed, script:not([src*="assets/"]), [onerror]'

/** Fails `t` if a page opens a dialog of the browser, or logs an error, other than that the service refuses a request. */
export const watchPage = (t: Test, page: Page) => {
  page.on('dialog', async (dialog) => {
    t.fail(`a dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('console', (message) => {
    const isRefusal = /responded with a status of 400/.test(message.text())
    if (message.type() === 'error' && !isRefusal) t.fail(`${page.url()} logs ${message.text()}`)
  })
}

/** Asserts that no text of the page has become markup or script, and that the page fits on a wide and a narrow screen. */
export const expectSafe = async (t: Test, page: Page, name: string) => {
  await settle(page)
  t.equal(await page.evaluate('window.hasRun'), undefined, `${name}: nothing has run`)
  t.equal(await page.locator(FOREIGN).count(), 0, `${name}: no text has become an element`)
  t.equal(await page.locator('a[href^="javascript"]').count(), 0, `${name}: no link runs a script`)
  t.equal(await page.evaluate<number>(HIDDEN_WIDTH), 0, `${name}: no scrolling sideways`)
  await expectNarrow(t, page)
}

import BetterSqlite3 from 'better-sqlite3'
import type { Test } from 'tap'
import { isFailure, type TestResponse } from '../helpers.ts'

export const CANARY = `CREATE TABLE canary (id INTEGER PRIMARY KEY, text TEXT, n INTEGER);
  INSERT INTO canary VALUES (1, 'alive', 7);`

/** Words of SQLite, of our own SQL and of this machine, that no message has for a caller. */
const INSIDE = /SQLITE_|syntax error|near "|unrecognized token|\/tmp\/|node_modules|services\/|\.js:\d/

/** Refusals repeat the name that was sent: what remains without it is ours. */
const ours = (body: string, payload: string) => body.replaceAll(JSON.stringify(payload).slice(1, -1), '')

/** A success, or a refusal that shows nothing of the inside. Never a fault of ours. */
export const isSafe = (t: Test, answer: TestResponse, payload: string, slot: string) => {
  const isRefused = answer.statusCode >= 400 && answer.statusCode < 500 && isFailure(answer.json())
  if (answer.statusCode !== 200 && !isRefused) t.fail(`${slot}: ${answer.statusCode}`, { payload, body: answer.body })
  if (isRefused && INSIDE.test(ours(answer.body, payload)))
    t.fail(`${slot} tells too much`, { payload, body: answer.body })
  return answer.statusCode === 200
}

/** What no payload may touch, read past the service. */
export const watch = (file: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  const canary = db.prepare('SELECT * FROM canary')
  const schema = db
    .prepare('SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM sqlite_schema ORDER BY name)')
    .pluck()
  return {
    canary: () => JSON.stringify(canary.all()),
    schema: () => String(schema.get()),
    close: () => db.close()
  }
}

type Watch = ReturnType<typeof watch>

export const unharmed = (t: Test, { canary, schema }: Watch, before: string, payload: string) => {
  if (canary() !== '[{"id":1,"text":"alive","n":7}]') t.fail('the canary is hurt', { payload, canary: canary() })
  if (schema() !== before) t.fail('the schema has changed', { payload })
}

export const same = (t: Test, found: unknown, payload: string, slot: string) => {
  if (found !== payload) t.fail(`${slot}: another value came back`, { payload, found })
}

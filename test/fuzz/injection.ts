import type { Test } from 'tap'
import { isFailure, type TestResponse } from '../helpers.ts'
import { openServed } from '../served.ts'

export const CANARY = `CREATE TABLE canary (id INTEGER PRIMARY KEY, text TEXT, n INTEGER);
  INSERT INTO canary VALUES (1, 'alive', 7);`

/** Texts from SQLite, the sources and the machine that no message may contain. */
const INTERNALS = /SQLITE_|syntax error|near "|unrecognized token|\/tmp\/|node_modules|services\/|\.js:\d/

/** Error messages repeat the name from the request. Returns the body without it. */
const withoutPayload = (body: string, payload: string) => body.replaceAll(JSON.stringify(payload).slice(1, -1), '')

/** Fails unless the response is a success or a 4xx without internals. Returns whether it is a success. */
export const expectSafe = (t: Test, response: TestResponse, payload: string, slot: string) => {
  const isRefused = response.statusCode >= 400 && response.statusCode < 500 && isFailure(response.json())
  if (response.statusCode !== 200 && !isRefused)
    t.fail(`${slot}: ${response.statusCode}`, { payload, body: response.body })
  if (isRefused && INTERNALS.test(withoutPayload(response.body, payload)))
    t.fail(`${slot}: the error shows internals`, { payload, body: response.body })
  return response.statusCode === 200
}

/** Returns functions that read what no payload may change, from the file and not through the service. */
export const openWatch = (t: Test, file: string) => {
  const db = openServed(t, file, { readonly: true })
  const canary = db.prepare('SELECT * FROM canary')
  const schema = db
    .prepare('SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM sqlite_schema ORDER BY name)')
    .pluck()
  return {
    canary: () => JSON.stringify(canary.all()),
    schema: () => String(schema.get())
  }
}

type Watch = ReturnType<typeof openWatch>

export const expectUnchanged = (t: Test, { canary, schema }: Watch, before: string, payload: string) => {
  if (canary() !== '[{"id":1,"text":"alive","n":7}]')
    t.fail('the canary table has changed', { payload, canary: canary() })
  if (schema() !== before) t.fail('the schema has changed', { payload })
}

export const expectSame = (t: Test, found: unknown, payload: string, slot: string) => {
  if (found !== payload) t.fail(`${slot}: another value was returned`, { payload, found })
}

import { spawnSync } from 'node:child_process'
import { serialize } from 'node:v8'
import { plainNode } from '../plain-process.ts'
import type { FakeStatement } from './fake-request.ts'

/** Starting a process takes time, which is not part of the limit. */
const START_MS = 500

const PROBE = `
const { deserialize } = require('node:v8')
const [file, sql, params] = deserialize(require('node:fs').readFileSync(0))
const db = new (require('better-sqlite3'))(file, { readonly: true }).defaultSafeIntegers()
try { for (const _ of db.prepare(sql).iterate(...params)); } catch {}
`

/**
 * better-sqlite3 cannot interrupt a statement that returns no row. With a limit of at most 2 s, a statement therefore
 * runs first in a process, which can be killed. With a larger limit, a statement that returns no row is not ended.
 */
export const needsProcess = (limit: number) => limit <= 2000

/** Runs a statement in a process. Returns true if it was killed. This blocks the event loop. */
export const runsTooLong = (file: string, { sql, params }: FakeStatement, limit: number) => {
  const [command, ...args] = plainNode()
  const { signal } = spawnSync(command, [...args, '-e', PROBE], {
    input: serialize([file, sql, params]),
    timeout: limit + START_MS,
    killSignal: 'SIGKILL'
  })
  return signal !== null
}

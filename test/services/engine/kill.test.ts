import { once } from 'node:events'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { spawnPlain } from '../../plain-process.ts'
import { databaseFile, openExternal, startEngine } from './engine.ts'

const script = fileURLToPath(new URL(`./writing-process${extname(import.meta.url)}`, import.meta.url))

/** Starts a process that writes, kills it in the midst of that, and gives what it had acknowledged. */
const writeAndKill = async (file: string, acknowledgements: number) => {
  const child = spawnPlain(script, { args: [file], stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const acknowledged: number[] = []
  for await (const line of createInterface(child.stdout as Readable)) {
    acknowledged.push(Number(line))
    if (acknowledged.length === acknowledgements) child.kill('SIGKILL')
  }
  const [, signal] = await exited
  return { acknowledged, signal }
}

t.test('what was acknowledged survives kill -9, and what was begun is there as a whole or not at all', async (t) => {
  const file = databaseFile(t)
  const { acknowledged, signal } = await writeAndKill(file, 1234)
  t.equal(signal, 'SIGKILL')
  t.ok(acknowledged.length >= 1234)

  const db = await startEngine(t, file)
  const stored = await db.read({ sql: 'SELECT id FROM entries', params: [] })
  const ids = new Set(stored.map(({ id }) => id))
  t.strictSame(
    acknowledged.filter((id) => !ids.has(id)),
    []
  )

  const foreign = openExternal(t, file)
  const made = foreign
    .prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'made~_%' ESCAPE '~' ORDER BY name")
    .pluck()
    .all()
  t.ok(made.length > 0)
  t.strictSame(foreign.prepare('SELECT name FROM made ORDER BY name').pluck().all(), made)
  t.equal(foreign.pragma('integrity_check', { simple: true }), 'ok')
})

import { once } from 'node:events'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { spawnPlain } from '../../plain-process.ts'
import { databaseFile, openExternal, startEngine } from './engine.ts'

const script = fileURLToPath(new URL(`./writing-process${extname(import.meta.url)}`, import.meta.url))

/** Kills a writing process after some acknowledgements. Returns the acknowledged ids and the signal of its exit. */
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

t.test(
  'after kill -9 every acknowledged write is stored, and every other unit is stored as a whole or not at all',
  async (t) => {
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

    const external = openExternal(t, file)
    const created = external
      .prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'made~_%' ESCAPE '~' ORDER BY name")
      .pluck()
      .all()
    t.ok(created.length > 0)
    t.strictSame(external.prepare('SELECT name FROM made ORDER BY name').pluck().all(), created)
    t.equal(external.pragma('integrity_check', { simple: true }), 'ok')
  }
)

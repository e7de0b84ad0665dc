import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryDirectory } from '../fixtures.ts'

const script = fileURLToPath(new URL('../../scripts/write-openapi.js', import.meta.url))
const plainThreads = new URL('../plain-threads.js', import.meta.url).href
const directory = temporaryDirectory(t)
const file = join(directory, 'openapi.json')

const run = (...options: string[]) => {
  const args = ['--import', plainThreads, script, ...options]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' })
  return { status, stderr }
}

const isStale = { status: 1, stderr: /openapi\.json is stale\. Run npm run openapi/ }

t.test('a document that was never written is stale', async (t) => {
  t.match(run('--check'), isStale)
})

t.test('a document that was just written is current', async (t) => {
  t.match(run(), { status: 0 })
  const written = readFileSync(file, 'utf8')
  t.match(JSON.parse(written), { openapi: '3.1.0', paths: { '/data/{table}': { get: {} } } })
  t.ok(written.endsWith('}\n'))
  t.match(run('--check'), { status: 0, stderr: '' })
})

t.test('a document with other contents is stale, and stays unchanged', async (t) => {
  writeFileSync(file, '{}\n')
  t.match(run('--check'), isStale)
  t.equal(readFileSync(file, 'utf8'), '{}\n')
})

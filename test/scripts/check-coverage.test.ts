import { spawnSync } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const script = fileURLToPath(new URL(`../../scripts/check-coverage${extname(import.meta.url)}`, import.meta.url))

const COMPILED = {
  'app.js': 'console.log(1)',
  services: { 'clock.js': 'export {};\n//# sourceMappingURL=clock.js.map', 'tokens.js': 'export const a = 1' },
  test: { 'app.test.js': 'console.log(1)' },
  bench: { 'load.js': 'console.log(1)' }
}

const run = (t: Test, files: Parameters<Test['testdir']>[0]) => {
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: t.testdir(files), encoding: 'utf8' })
  return { status, stderr }
}

const report = (...paths: readonly string[]) => ({
  '.tap': { report: { 'lcov.info': paths.map((path) => `TN:\nSF:${path}\nend_of_record\n`).join('') } }
})

t.test('a report with every file that has code is accepted', async (t) => {
  t.strictSame(run(t, { build: COMPILED, ...report('app.ts', 'services/tokens.ts') }), { status: 0, stderr: '' })
})

t.test('a file that is missing from the report is named', async (t) => {
  t.strictSame(run(t, { build: COMPILED, ...report('app.ts') }), {
    status: 1,
    stderr: 'No test loads services/tokens.ts.\n'
  })
})

t.test('a missing report is named', async (t) => {
  const { status, stderr } = run(t, { build: COMPILED })
  t.equal(status, 1)
  t.match(stderr, /no such file.*lcov\.info/)
})

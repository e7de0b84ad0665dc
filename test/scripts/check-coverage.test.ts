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

const run = (t: Test, files: Parameters<Test['testdir']>[0], ...args: readonly string[]) => {
  const options = { cwd: t.testdir(files), encoding: 'utf8' } as const
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], options)
  return { status, stderr }
}

const report = (lines: Readonly<Record<string, string>>) => ({
  '.tap': {
    report: {
      'lcov.info': Object.entries(lines)
        .map(([path, covered]) => `TN:\nSF:${path}\n${covered}end_of_record\n`)
        .join('')
    }
  }
})

const COVERED = 'FN:1,read\nFNDA:2,read\nDA:1,3\nDA:20,10\nBRDA:1,0,0,2\n'
const UNCOVERED = 'FN:1,read\nFNDA:0,read\nDA:1,0\nDA:2,10\nBRDA:2,0,0,0\n'

t.test('a report that covers every file with code is accepted', async (t) => {
  const files = { build: COMPILED, ...report({ 'app.ts': COVERED, 'services/tokens.ts': COVERED }) }
  t.strictSame(run(t, files), { status: 0, stderr: '' })
})

t.test('a file that is missing from the report is named', async (t) => {
  t.strictSame(run(t, { build: COMPILED, ...report({ 'app.ts': COVERED }) }), {
    status: 1,
    stderr: 'No test loads services/tokens.ts.\n'
  })
})

t.test('lines, branches and functions that no test covers are named', async (t) => {
  const files = { build: COMPILED, ...report({ 'app.ts': UNCOVERED, 'services/tokens.ts': COVERED }) }
  t.strictSame(run(t, files), {
    status: 1,
    stderr: 'No test covers app.ts: function read, line 1, a branch in line 2.\n'
  })
})

t.test('with --of-shards, the sources that only processes cover are left out', async (t) => {
  const test = { 'process-sources.json': '["app.ts", "services/"]' }
  const files = { build: COMPILED, test, ...report({ 'app.ts': UNCOVERED }) }
  t.strictSame(run(t, files, '--of-shards'), { status: 0, stderr: '' })
  t.match(run(t, files), { status: 1, stderr: /services\/tokens\.ts\.\n.*app\.ts/ })
})

t.test('a missing report is named', async (t) => {
  const { status, stderr } = run(t, { build: COMPILED })
  t.equal(status, 1)
  t.match(stderr, /no such file.*lcov\.info/)
})

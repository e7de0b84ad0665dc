import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ALONE, balance, isProcessTest, planShards, replacesThreads, timesIn } from './shards.ts'

const sumOf = (paths: readonly string[], times: Readonly<Record<string, number>>) =>
  paths.reduce((sum, path) => sum + (times[path] ?? 1), 0)

t.test('shards have about the same time, and the slowest file is first', async (t) => {
  const times = { 'a.test.ts': 9, 'b.test.ts': 5, 'c.test.ts': 4, 'd.test.ts': 2 }
  const shards = balance(Object.keys(times), times, 2)
  t.strictSame(shards, [
    ['a.test.ts', 'd.test.ts'],
    ['b.test.ts', 'c.test.ts']
  ])
  t.strictSame(
    shards.map((paths) => sumOf(paths, times)),
    [11, 9]
  )
})

t.test('the same files make the same shards, in whatever order they are listed', async (t) => {
  t.strictSame(balance(['b', 'c', 'a'], {}, 2), [['a', 'c'], ['b']])
  t.strictSame(balance(['c', 'a', 'b'], {}, 2), [['a', 'c'], ['b']])
})

t.test('a shard without files is left out', async (t) => {
  t.strictSame(balance(['a'], {}, 3), [['a']])
})

t.test('the times are those of the files that have passed, without their subtests', async (t) => {
  const lines = [
    'ok 1 - routes/app.test.js # time=1234.5ms',
    '    ok 1 - a subtest # time=20ms',
    'not ok 2 - failing.test.js # time=99ms',
    'ok 3 - config.test.js # time=40ms {'
  ]
  t.strictSame(timesIn(lines), { 'config.test.ts': 0, 'routes/app.test.ts': 1.2 })
})

const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  'routes/app.test.ts': ['helpers.ts'],
  'helpers.ts': ['plain-threads.ts', 'fixtures.ts'],
  'fixtures.ts': ['helpers.ts'],
  'services/sql.test.ts': []
}
const importsOf = (path: string) => IMPORTS[path] ?? []

t.test('a test that loads the replacements of threads, through any module, is recognized', async (t) => {
  t.ok(replacesThreads('routes/app.test.ts', importsOf))
  t.notOk(replacesThreads('services/sql.test.ts', importsOf))
})

t.test('tests that replace threads share no shard with others, and tests of processes are in none', async (t) => {
  const paths = [
    'routes/app.test.ts',
    'services/sql.test.ts',
    'fuzz/keys.test.ts',
    'crash/kill.test.ts',
    'cli/help.test.ts'
  ]
  t.strictSame(planShards({ paths, times: { 'routes/app.test.ts': 3 }, importsOf }), [
    { name: 'app-1', files: { 'routes/app.test.ts': 3 } },
    { name: 'modules-1', files: { 'services/sql.test.ts': 1 } }
  ])
})

t.test('tests that start processes, and those that need Chromium or rqlite, are in no shard', async (t) => {
  const paths = ['scripts/build.test.ts', 'server.test.ts', 'console/login.test.ts', 'browser/docs.test.ts']
  t.strictSame(planShards({ paths, times: {}, importsOf }), [])
  t.strictSame(paths.filter(isProcessTest), ['scripts/build.test.ts', 'server.test.ts'])
})

t.test('a file that cannot share a process has a shard of its own', async (t) => {
  const [path = ''] = Object.keys(ALONE)
  const shards = planShards({ paths: [path, 'services/sql.test.ts'], times: { [path]: 90 }, importsOf })
  t.strictSame(
    shards.map(({ files }) => Object.keys(files)),
    [[path], ['services/sql.test.ts']]
  )
})

t.test('each file that runs alone exists', async (t) => {
  t.strictSame(
    Object.keys(ALONE).filter((path) => !existsSync(join('test', path))),
    []
  )
})

t.test('files that take no time make one shard', async (t) => {
  const paths = ['routes/app.test.ts', 'routes/other.test.ts']
  const times = { 'routes/app.test.ts': 0, 'routes/other.test.ts': 0 }
  t.strictSame(planShards({ paths, times, importsOf: () => [] }), [{ name: 'modules-1', files: times }])
})

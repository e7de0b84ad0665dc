import { execFileSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { createFailureLog, type Failure } from '../../../plugins/http/failure-log.ts'

const WARN = 40
const ERROR = 50

interface Line {
  readonly level: number
  readonly msg: string
  readonly n: number
  readonly suppressed?: number
}

const start = (t: Test, interval?: number) => {
  const lines: Line[] = []
  const { log } = Fastify({ logger: { level: 'warn', stream: { write: (line) => lines.push(JSON.parse(line)) } } })
  const failures = createFailureLog(log, interval)
  t.teardown(failures.close)
  return { ...failures, lines }
}

const failure = (key: string, n = 0, level: Failure['level'] = 'warn'): Failure => ({
  level,
  key,
  message: `Failure of ${key}.`,
  fields: { n }
})

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await wait(1)
}

t.test('the first failure of each kind is written at once', async (t) => {
  const { record, lines } = start(t)
  record(failure('a'))
  record(failure('b', 1, 'error'))
  t.match(lines, [
    { level: WARN, msg: 'Failure of a.', n: 0 },
    { level: ERROR, msg: 'Failure of b.', n: 1 }
  ])
  t.equal(lines[0]?.suppressed, undefined)
})

t.test('a flood is one line, and one more with its number after the interval', async (t) => {
  const { record, lines } = start(t, 50)
  for (let n = 0; n < 1000; n += 1) record(failure('a', n))
  t.equal(lines.length, 1)
  await until(() => lines.length > 1)
  t.match(lines, [{ n: 0 }, { level: WARN, msg: 'Failure of a.', n: 999, suppressed: 999 }])

  record(failure('a', 1))
  t.equal(lines.length, 2, 'the next interval has begun')
  await until(() => lines.length > 2)
  t.match(lines[2], { n: 1, suppressed: 1 })
})

t.test('after an interval without failures, the next failure is written at once', async (t) => {
  const { record, lines } = start(t, 5)
  record(failure('a'))
  await until(() => {
    record(failure('a', 1))
    return lines.length > 1
  })
  await wait(50)
  const { length } = lines
  record(failure('a', 2))
  t.equal(lines.length, length + 1)
  t.match(lines.at(-1), { n: 2, suppressed: undefined })
})

t.test('the close writes the remaining counts', async (t) => {
  const { record, close, lines } = start(t)
  record(failure('a', 1))
  record(failure('b', 2))
  record(failure('b', 3))
  record(failure('b', 4))
  close()
  t.match(lines, [{ n: 1 }, { n: 2 }, { n: 4, suppressed: 2 }])
  close()
  t.equal(lines.length, 3, 'once')
})

t.test('any number of kinds needs bounded memory and a bounded number of lines', async (t) => {
  const { record, close, lines } = start(t)
  for (let n = 0; n < 10_000; n += 1) record(failure(`kind ${n}`, n))
  t.equal(lines.length, 33)
  close()
  t.equal(lines.length, 34)
  t.match(lines.at(-1), { n: 9999, suppressed: 9967 })
})

t.test('a pending count does not keep the process alive', async (t) => {
  const url = new URL('../../../plugins/http/failure-log.js', import.meta.url).href
  const code = `const { createFailureLog } = await import('${url}')
    const { record } = createFailureLog({ warn: () => {} })
    for (let n = 0; n < 2; n += 1) record({ level: 'warn', key: 'a', message: '', fields: {} })`
  const start = performance.now()
  execFileSync(process.execPath, ['--input-type=module', '--eval', code])
  t.ok(performance.now() - start < 30_000)
})

import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import { createVerifier } from '../../../services/accounts/verifier.ts'
import { CHEAP } from '../../fixtures.ts'
import { spawnPlain } from '../../plain-process.ts'

const { hash } = createPasswords(CHEAP)
const PASSWORD = 'correct horse'
const stored = await hash(PASSWORD)

const PROC = '/proc'
const noProc = existsSync(`${PROC}/self/stat`) ? false : 'there is no /proc, which lists child processes'

/** Threads of libuv's pool, which all start with the first password: https://docs.libuv.org/en/v1.x/threadpool.html */
const POOL_THREADS = 4

/** Returns the fields of /proc/<pid>/stat after the name: state, parent, … The name may contain spaces and brackets. */
const statOf = (path: string) => readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ') ?? []
const parentOf = (pid: string) => {
  try {
    return Number(statOf(`${PROC}/${pid}/stat`)[1])
  } catch {
    return 0
  }
}

/** Returns the child processes that still run. */
const children = () => readdirSync(PROC).filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === process.pid)

/** Returns the niceness of each thread, the latest last. */
const nicenessOf = (pid: string) =>
  readdirSync(`${PROC}/${pid}/task`).map((thread) => Number(statOf(`${PROC}/${pid}/task/${thread}/stat`)[16]))

const until = async (condition: () => boolean) => {
  while (!condition()) await pause(10)
}

t.test('concurrent passwords get the right results', async (t) => {
  const verify = createVerifier()
  const other = await hash('another')
  const results = await Promise.all([
    verify(stored, PASSWORD),
    verify(stored, 'Correct horse'),
    verify(other, 'another'),
    verify(other, PASSWORD),
    verify(stored, '\ud800'),
    verify(stored, PASSWORD)
  ])
  t.strictSame(results, [true, false, true, false, false, true])
})

t.test('a stored text that is not a hash throws, and the next password is checked', async (t) => {
  const verify = createVerifier()
  await t.rejects(verify('no hash', PASSWORD), { name: 'Error' })
  t.equal(await verify(stored, PASSWORD), true)
})

t.test('passwords are checked in one child process with a lower priority', { skip: noProc }, async (t) => {
  const verify = createVerifier()
  const before = children()
  await Promise.all([verify(stored, PASSWORD), verify(stored, PASSWORD)])
  const started = children().filter((pid) => !before.includes(pid))
  t.equal(started.length, 1)
  const niceness = started.flatMap(nicenessOf)
  // A thread of Node that started before the priority was lowered keeps the normal one. Passwords use the main thread and the pool.
  const used = [niceness[0], ...niceness.slice(-POOL_THREADS)]
  t.strictSame(used, Array(1 + POOL_THREADS).fill(10), niceness.join(' '))
})

t.test('the process stops when it is idle, and starts again', { skip: noProc }, async (t) => {
  const verify = createVerifier({ idle: 50 })
  const before = children().length
  t.equal(await verify(stored, PASSWORD), true)
  t.equal(children().length, before + 1)
  await until(() => children().length === before)
  t.equal(await verify(stored, PASSWORD), true)
})

t.test(
  'the process ignores signals for the service; when it is killed, pending passwords are refused',
  { skip: noProc },
  async (t) => {
    const verify = createVerifier()
    const before = children()
    await verify(stored, PASSWORD)
    const [pid] = children().filter((one) => !before.includes(one))
    process.kill(Number(pid), 'SIGTERM')
    process.kill(Number(pid), 'SIGINT')
    t.equal(await verify(stored, PASSWORD), true)

    process.kill(Number(pid), 'SIGKILL')
    await t.rejects(verify(stored, PASSWORD), { code: 'OVERLOADED', retryAfter: 1 })
    t.equal(await verify(stored, PASSWORD), true, 'a new process is started')
  }
)

t.test('the process exits without output after its parent has disconnected', async (t) => {
  const script = new URL('../../../services/accounts/verifier-process.js', import.meta.url).pathname
  for (const delay of [0, 1, 2, 4, 8, 16]) {
    const child = spawnPlain(script, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    const ended = Promise.all([once(child, 'exit'), text(child.stderr as Readable)])
    child.send({ id: 1, stored, password: PASSWORD })
    await once(child, 'message')
    for (let id = 2; id < 20; id += 1) child.send({ id, stored, password: PASSWORD })
    await pause(delay)
    child.disconnect()
    t.strictSame(await ended, [[0, null], ''])
  }
})

t.test('a password is refused if the process cannot start', async (t) => {
  const node = process.execPath
  t.teardown(() => {
    process.execPath = node
  })
  const verify = createVerifier()
  process.execPath = '/nowhere/node'
  await t.rejects(verify(stored, PASSWORD), { code: 'OVERLOADED' })
  process.execPath = node
  t.equal(await verify(stored, PASSWORD), true)
})

import t from 'tap'
import { createHashingQueue } from '../../../services/accounts/hashing-queue.ts'

/** Creates jobs that record their start and end when the test calls `finish`. */
const createWork = () => {
  const started: string[] = []
  const finish: (() => void)[] = []
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      started.push(name)
      finish.push(() => resolve(name))
    })
  return { started, finish, work }
}

t.test('run returns the result of the work', async (t) => {
  t.equal(await createHashingQueue().run('a', async () => 'done'), 'done')
})

t.test('one job runs at a time', async (t) => {
  const { run } = createHashingQueue()
  const { started, finish, work } = createWork()
  const first = run('a', work('first'))
  const second = run('b', work('second'))
  t.same(started, ['first'])
  finish[0]?.()
  await first
  await new Promise(setImmediate)
  t.same(started, ['first', 'second'])
  finish[1]?.()
  t.equal(await second, 'second')
})

t.test('addresses are served in rotation, and each keeps its own order', async (t) => {
  const { run } = createHashingQueue()
  const order: string[] = []
  const record = (name: string) => async () => {
    order.push(name)
  }
  await Promise.all([
    run('a', record('a1')),
    run('a', record('a2')),
    run('a', record('a3')),
    run('a', record('a4')),
    run('b', record('b1')),
    run('c', record('c1')),
    run('b', record('b2'))
  ])
  t.same(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

t.test('64 jobs may wait; another one is refused until the queue has space', async (t) => {
  const { run } = createHashingQueue()
  const { finish, work } = createWork()
  const running = run('a', work('running'))
  const waiting = Array.from({ length: 64 }, (_, index) => run(`address ${index}`, async () => index))
  await t.rejects(run('z', work('refused')), { code: 'OVERLOADED', kind: 'unavailable', retryAfter: 2 })
  finish[0]?.()
  await running
  t.same(await Promise.all(waiting), [...waiting.keys()])
  t.equal(await run('z', async () => 'accepted'), 'accepted')
})

t.test(
  'in a full queue, a job of the address with the most jobs is refused in favour of an address with fewer',
  async (t) => {
    const { run } = createHashingQueue({ capacity: 4 })
    const { finish, work } = createWork()
    const running = run('z', work('running'))
    const done = async () => 'done'
    const few = run('few', done)
    const many = [run('many', done), run('many', done), run('many', done)]
    const newcomer = run('new', done)
    await t.rejects(
      many[2] as Promise<string>,
      { code: 'OVERLOADED' },
      'the last job of the address with the most jobs is refused'
    )
    await t.rejects(
      run('new', done),
      { code: 'OVERLOADED' },
      'no job is refused in favour of an address with as many jobs'
    )
    finish[0]?.()
    t.same(await Promise.all([running, few, many[0], many[1], newcomer]), ['running', 'done', 'done', 'done', 'done'])
  }
)

t.test('a job that fails does not affect the next', async (t) => {
  const { run } = createHashingQueue()
  const failing = run('a', async () => {
    throw new Error('bad hash')
  })
  const next = run('a', async () => 'next')
  await t.rejects(failing, { message: 'bad hash' })
  t.equal(await next, 'next')
})

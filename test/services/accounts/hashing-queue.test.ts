import t from 'tap'
import { createHashingQueue } from '../../../services/accounts/hashing-queue.ts'

/** Work that ends when told, and notes when it starts. */
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

t.test('gives what the work gives', async (t) => {
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

t.test('addresses are served in turn, each in its own order', async (t) => {
  const { run } = createHashingQueue()
  const order: string[] = []
  const note = (name: string) => async () => {
    order.push(name)
  }
  await Promise.all([
    run('a', note('a1')),
    run('a', note('a2')),
    run('a', note('a3')),
    run('a', note('a4')),
    run('b', note('b1')),
    run('c', note('c1')),
    run('b', note('b2'))
  ])
  t.same(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

t.test('64 wait; a further one is refused, and one is taken again when there is room', async (t) => {
  const { run } = createHashingQueue()
  const { finish, work } = createWork()
  const running = run('a', work('running'))
  const waiting = Array.from({ length: 64 }, (_, index) => run(`address ${index}`, async () => index))
  await t.rejects(run('z', work('refused')), { code: 'OVERLOADED', kind: 'unavailable', retryAfter: 2 })
  finish[0]?.()
  await running
  t.same(await Promise.all(waiting), [...waiting.keys()])
  t.equal(await run('z', async () => 'taken'), 'taken')
})

t.test('where there is no more room, an address with many waiting gives way to one with fewer', async (t) => {
  const { run } = createHashingQueue({ capacity: 4 })
  const { finish, work } = createWork()
  const running = run('z', work('running'))
  const done = async () => 'done'
  const few = run('few', done)
  const many = [run('many', done), run('many', done), run('many', done)]
  const newcomer = run('new', done)
  await t.rejects(many[2] as Promise<string>, { code: 'OVERLOADED' }, 'the last one gives way')
  await t.rejects(run('new', done), { code: 'OVERLOADED' }, 'nobody gives way to one who has as many')
  finish[0]?.()
  t.same(await Promise.all([running, few, many[0], many[1], newcomer]), ['running', 'done', 'done', 'done', 'done'])
})

t.test('a job that fails leaves the next alone', async (t) => {
  const { run } = createHashingQueue()
  const failing = run('a', async () => {
    throw new Error('bad hash')
  })
  const next = run('a', async () => 'next')
  await t.rejects(failing, { message: 'bad hash' })
  t.equal(await next, 'next')
})

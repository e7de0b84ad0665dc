import t from 'tap'
import { createFairQueue } from '../../../../services/engine/loop/fair-queue.ts'

const drain = (queue: ReturnType<typeof createFairQueue<string>>) => {
  const taken: string[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item)
  return taken
}

t.test('callers are served in rotation', async (t) => {
  const queue = createFairQueue<string>(10)
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) t.equal(queue.add(item.slice(0, 1), item), undefined)
  t.strictSame(drain(queue), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  t.equal(queue.take(), undefined)
})

t.test('a caller that may not have an item is passed over', async (t) => {
  const queue = createFairQueue<string>(10)
  for (const item of ['a1', 'a2', 'b1']) queue.add(item.slice(0, 1), item)
  t.equal(
    queue.take((caller) => caller !== 'a'),
    'b1'
  )
  t.equal(
    queue.take((caller) => caller !== 'a'),
    undefined
  )
  t.strictSame(drain(queue), ['a1', 'a2'])
})

t.test('an item that is removed is not taken, and leaves its room to another', async (t) => {
  const queue = createFairQueue<string>(3)
  for (const item of ['a1', 'a2', 'b1']) queue.add(item.slice(0, 1), item)
  for (const item of ['a1', 'b1', 'b1', 'c1']) queue.remove(item.slice(0, 1), item)
  t.equal(queue.length(), 1)
  t.equal(queue.add('a', 'a3'), undefined)
  t.strictSame(drain(queue), ['a2', 'a3'])
})

t.test('a full queue drops the last item of the caller with the most for a caller with fewer', async (t) => {
  const queue = createFairQueue<string>(3)
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item)
  t.equal(queue.add('a', 'a4'), 'a4', 'no caller has more')
  t.equal(queue.add('b', 'b1'), 'a3')
  t.equal(queue.add('b', 'b2'), 'b2', 'the caller would then have as many as the other')
  t.strictSame(drain(queue), ['a1', 'b1', 'a2'])
})

import t from 'tap'
import { createFairQueue } from '../../../../services/engine/shared/fair-queue.ts'

const drain = (queue: ReturnType<typeof createFairQueue<string>>) => {
  const taken: string[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item)
  return taken
}

t.test('whoever waits is served in turn', async (t) => {
  const queue = createFairQueue<string>(10)
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) t.equal(queue.add(item.slice(0, 1), item), undefined)
  t.strictSame(drain(queue), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  t.equal(queue.take(), undefined)
})

t.test('where there is no room, the last of whoever has the most goes for one who has less', async (t) => {
  const queue = createFairQueue<string>(3)
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item)
  t.equal(queue.add('a', 'a4'), 'a4', 'nobody has more')
  t.equal(queue.add('b', 'b1'), 'a3')
  t.equal(queue.add('b', 'b2'), 'b2', 'it would have as much as the other then')
  t.strictSame(drain(queue), ['a1', 'b1', 'a2'])
})

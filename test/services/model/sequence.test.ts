import t from 'tap'
import { createSequence } from '../../../services/model/sequence.ts'

t.test('tasks run one after the other, also after one that fails', async (t) => {
  const inSequence = createSequence()
  const steps: string[] = []
  let end = () => {}
  const first = inSequence(async () => {
    steps.push('first')
    await new Promise<void>((resolve) => {
      end = resolve
    })
    steps.push('first ended')
    throw new Error('failed')
  })
  const second = inSequence(async () => steps.push('second'))
  while (steps.length === 0) await new Promise((resolve) => setImmediate(resolve))
  end()
  await t.rejects(first, { message: 'failed' })
  await second
  t.strictSame(steps, ['first', 'first ended', 'second'])
})

import Fastify from 'fastify'
import t from 'tap'
import tokenUsePurge from '../../../plugins/app/token-use-purge.ts'
import type { DailyUses } from '../../../services/tokens/daily-uses.ts'

t.test('old uses are deleted at intervals, and a failure is logged', async (t) => {
  const lines: string[] = []
  let purges = 0
  const purge = async () => {
    purges += 1
    if (purges === 1) throw new Error('full')
  }
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => lines.push(line) } } })
  app.decorate('dailyUses', { purge } as unknown as DailyUses)
  await app.register(tokenUsePurge, { interval: 5 })
  await app.ready()
  while (purges < 3) await new Promise((resolve) => setImmediate(resolve))
  await app.close()
  t.match(
    lines.map((line) => JSON.parse(line).msg),
    ['Old uses could not be deleted.']
  )
})

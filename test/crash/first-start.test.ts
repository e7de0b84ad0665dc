import t from 'tap'
import { PASSWORD } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { assertListening } from '../service-process.ts'
import { createHttp } from './http.ts'
import { noInterposer } from './interposer.ts'
import { createSimulatedDisk } from './power-cut.ts'

const CYCLES = Math.max(2, scaled(30))

t.test(
  'after a power cut at any point of the first start, the next start succeeds',
  { skip: noInterposer },
  async (t) => {
    const disk = createSimulatedDisk(t)
    const complete = await disk.start(new Map(), 0)
    await complete.end('SIGKILL')
    const changes = complete.changes().length
    t.comment(`a first start makes ${changes} changes`)
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const after = 1 + Math.floor(((cycle + Math.random()) * changes) / CYCLES)
      const cut = await disk.start(new Map(), after)
      await cut.end('SIGKILL')
      const restarted = await disk.start(cut.survivors(), 0)
      const call = createHttp(assertListening(restarted).address)
      const { status } = await call('POST', '/auth/login', { name: 'admin', password: PASSWORD })
      t.equal(status, 200, `cut at change ${after}`)
      await restarted.end('SIGKILL')
    }
  }
)

import t from 'tap'
import { PASSWORD } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { assertListening } from '../service-process.ts'
import { createCaller } from './caller.ts'
import { noInterposer } from './interposer.ts'
import { createForgetfulDisk } from './power-cut.ts'

const CYCLES = scaled(30)

t.test('a first start that is cut off anywhere can be repeated', { skip: noInterposer }, async (t) => {
  const disk = createForgetfulDisk(t)
  const whole = await disk.start(new Map(), 0)
  await whole.end('SIGKILL')
  const changes = whole.changes().length
  t.comment(`a first start makes ${changes} changes`)
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const after = 1 + Math.floor(((cycle + Math.random()) * changes) / CYCLES)
    const cut = await disk.start(new Map(), after)
    await cut.end('SIGKILL')
    const again = await disk.start(cut.survivors(), 0)
    const logIn = createCaller(assertListening(again).address)
    const { status } = await logIn('POST', '/auth/login', { name: 'admin', password: PASSWORD })
    t.equal(status, 200, `cut at change ${after}`)
    await again.end('SIGKILL')
  }
})

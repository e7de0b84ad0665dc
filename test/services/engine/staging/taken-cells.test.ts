import t from 'tap'
import { createTakenCells } from '../../../../services/engine/staging/taken-cells.ts'

t.test('a record has at most 100,000 cells', async (t) => {
  const read = (delimiters: number) => createTakenCells(',')(Buffer.from(`${','.repeat(delimiters)}\n`), true)
  t.equal(read(99_999).failure, undefined)
  t.match(read(100_001).failure, { message: /more than 100000 cells/ })
})

t.test('a long record costs the same time in small chunks', async (t) => {
  const file = Buffer.from(`a\n${'x'.repeat(3 * 2 ** 20)}\n`)
  const CHUNK = 16 * 1024
  const read = (size: number) => {
    const takeOut = createTakenCells(',')
    const start = process.cpuUsage()
    const parts = []
    for (let at = 0; at < file.length; at += size)
      parts.push(takeOut(file.subarray(at, at + size), at + size >= file.length))
    const { user } = process.cpuUsage(start)
    t.equal(parts.map(({ text }) => text).join(''), file.toString())
    return user
  }
  const once = read(file.length)
  const inChunks = read(CHUNK)
  t.ok(inChunks < 10 * once, `${inChunks} µs, ${once} µs in one chunk`)
})

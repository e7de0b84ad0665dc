import t from 'tap'
import { createCsvReader } from '../../../../services/engine/staging/csv-records.ts'
import { rejection } from '../engine.ts'

const BYTE_ORDER_MARK = '\u{FEFF}'

t.test('a chunk keeps the byte order mark that a cell begins with', async (t) => {
  const read: (readonly [number, readonly string[]])[] = []
  const reader = createCsvReader(',', (line, cells) => read.push([line, cells.map(({ text }) => text)]))
  await reader.write(Buffer.from('a,b\n'))
  await reader.write(Buffer.from(`${BYTE_ORDER_MARK}c,d\n`))
  await reader.end()
  t.same(read, [
    [1, ['a', 'b']],
    [2, [`${BYTE_ORDER_MARK}c`, 'd']]
  ])
})

/** All characters that a regular expression of JavaScript takes for white space, but those that end a line. */
const SPACES = Array.from({ length: 2 ** 16 }, (_, code) => String.fromCharCode(code)).filter((character) =>
  /[^\S\r\n]/.test(character)
)

t.test('white space belongs to its cell, in one chunk and in chunks of a byte', async (t) => {
  const records = SPACES.flatMap((space) => [
    [space, 'a', space],
    [`${space}a`, `b${space}`, `c${space}d`],
    [space + space, '', space]
  ])
  const file = Buffer.from(`${records.map((cells) => cells.join(';')).join('\n')}\n`)
  for (const size of [file.length, 1]) {
    const read: (readonly string[])[] = []
    const reader = createCsvReader(';', (_line, cells) => read.push(cells.map(({ text }) => text)))
    for (let at = 0; at < file.length; at += size) await reader.write(file.subarray(at, at + size))
    await reader.end()
    t.strictSame(read, records)
  }
})

t.test('a cell that begins with white space has no quote and no control character', async (t) => {
  const read = (text: string) => rejection(createCsvReader(',', () => {}).write(Buffer.from(text)))
  t.match(await read('a, "b"\n'), { reason: { message: /must be in quotes/ } })
  t.match(await read('a, \u{0}\n'), { reason: { message: /control character/ } })
})

t.test('each record of a chunk has its line and its quoted cells', async (t) => {
  const read: unknown[] = []
  const reader = createCsvReader(',', (...record) => read.push(record))
  await reader.write(Buffer.from('a,"b\nc"\n"d",e\nf'))
  await reader.end()
  const quoted = (text: string) => ({ text, isQuoted: true })
  const plain = (text: string) => ({ text, isQuoted: false })
  t.strictSame(read, [
    [1, [plain('a'), quoted('b\nc')]],
    [3, [quoted('d'), plain('e')]],
    [4, [plain('f')]]
  ])
})

t.test('an error for a record is thrown, and no later record is read', async (t) => {
  const read: number[] = []
  const error = new Error('wrong')
  const reader = createCsvReader(',', (line) => {
    read.push(line)
    if (line === 2) throw error
  })
  await t.rejects(reader.write(Buffer.from('a\nb\nc\n')), error)
  t.strictSame(read, [1, 2])
})

t.test('the records before one that cannot be read are read', async (t) => {
  const read: number[] = []
  const reader = createCsvReader(',', (line) => read.push(line))
  t.match(await rejection(reader.write(Buffer.from('a\nb"\n'))), { reason: { line: 2, code: 'syntax' } })
  t.strictSame(read, [1])
})

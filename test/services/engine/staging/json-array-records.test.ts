import t from 'tap'
import { createJsonArrayReader } from '../../../../services/engine/staging/json-array-records.ts'
import { MAX_OBJECT_BYTES } from '../../../../services/engine/staging/json-objects.ts'
import { MAX_PARTS } from '../../../../services/model/json-parts.ts'
import { rejection } from '../engine.ts'

/** Returns the records of a file that arrives in chunks of this size. */
const read = async (file: string | Buffer, size = Number.POSITIVE_INFINITY) => {
  const bytes = Buffer.from(file)
  const found: unknown[] = []
  const reader = createJsonArrayReader((number, record) => found.push([number, record]))
  for (let start = 0; start < bytes.length; start += size)
    await reader.write(bytes.subarray(start, Math.min(start + size, bytes.length)))
  await reader.end()
  return found
}

const FILE = `\ufeff [\t{"a":"x,]}\\"{\\\\","b":[{"c":[{}]}]}\r\n,
  {
    "a": 9223372036854775807,
    "é": "\u2028"
  } , {}
]\n `
const RECORDS = [
  [1, { a: 'x,]}"{\\', b: [{ c: [{}] }] }],
  [2, { a: 9223372036854775807n, é: '\u2028' }],
  [3, {}]
]

t.test('the objects of an array are its records, wherever its chunks end', async (t) => {
  for (let size = 1; size <= Buffer.byteLength(FILE); size += 1)
    t.strictSame(await read(FILE, size), RECORDS, `${size}`)
  t.strictSame(await read('[]'), [])
  t.strictSame(await read('\n[\n]\n'), [])
})

t.test('a file that is not an array of objects is refused with the number of the record', async (t) => {
  const wrong: readonly (readonly [file: string | Buffer, record: number, code: string, message: RegExp])[] = [
    ['', 1, 'syntax', /ends before the `\]`/],
    [' ', 1, 'syntax', /ends before the `\]`/],
    ['[', 1, 'syntax', /ends before the `\]`/],
    ['[{"a":1}', 2, 'syntax', /ends before the `\]`/],
    ['[{"a":1},', 2, 'syntax', /ends before the `\]`/],
    ['[{"a":1},{"a":"]', 2, 'syntax', /ends before the `\]`/],
    ['{"a":1}\n{"a":2}\n', 1, 'type', /must be a JSON array/],
    ['null', 1, 'type', /must be a JSON array/],
    ['\ufeff\ufeff[]', 1, 'type', /must be a JSON array/],
    [Buffer.from('efbb5b5d', 'hex'), 1, 'type', /must be a JSON array/],
    [Buffer.from('5b20bf5d', 'hex'), 1, 'type', /must be a JSON object/],
    [Buffer.from('\ufeff[]', 'utf16le'), 1, 'type', /must be a JSON array/],
    ['[1]', 1, 'type', /must be a JSON object/],
    ['[{},[{}]]', 2, 'type', /must be a JSON object/],
    ['[{},null]', 2, 'type', /must be a JSON object/],
    ['[{},]', 2, 'type', /must be a JSON object/],
    ['[,{}]', 1, 'type', /must be a JSON object/],
    ['[{}{}]', 2, 'syntax', /must follow a comma/],
    ['[{}:{}]', 2, 'syntax', /must follow a comma/],
    ['[]]', 1, 'syntax', /goes on after/],
    ['[{}]\n[{}]', 2, 'syntax', /goes on after/],
    ['[{"a":[}]', 1, 'syntax', /not valid JSON/],
    ['[{"a":1,}]', 1, 'syntax', /not valid JSON/],
    ['[{},{"a":"\n"}]', 2, 'syntax', /not valid JSON/],
    [Buffer.from('[{},{"a":"\xe9"}]', 'latin1'), 2, 'encoding', /not UTF-8/],
    ['[{"a":1},{"a":1,"a":2}]', 2, 'duplicate', /'a' twice/],
    [`[{"a":[${'[],'.repeat(MAX_PARTS)}[]]}]`, 1, 'length', /more than 20000 keys/]
  ]
  for (const [index, [file, line, code, message]] of wrong.entries())
    for (const size of [1, 1000])
      t.match(await rejection(read(file, size)), { reason: { line, column: null, code, message } }, `file ${index}`)
})

t.test('the bytes of a record are limited, and white space between records is not', async (t) => {
  const recordOf = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
  const CHUNK = 64 * 1024
  t.equal((await read(`[${recordOf(MAX_OBJECT_BYTES)}]`, CHUNK)).length, 1)
  const space = ' '.repeat(2 * MAX_OBJECT_BYTES)
  t.equal((await read(`[{},${space}{}${space}]`, CHUNK)).length, 2)
  const tooLong = await rejection(read(`[{},${recordOf(MAX_OBJECT_BYTES + 2 * CHUNK)}]`, CHUNK))
  t.match(tooLong, { reason: { line: 2, code: 'length', message: /more than 8388608 bytes/ } })
})

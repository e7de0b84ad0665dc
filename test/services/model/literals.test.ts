import t from 'tap'
import { parseBase64, parseInteger } from '../../../services/model/literals.ts'

t.test('only the canonical text of a 64-bit integer is parsed', async (t) => {
  for (const text of ['0', '7', '-7', '9223372036854775807', '-9223372036854775808']) {
    t.equal(parseInteger(text), BigInt(text), text)
  }
  for (const text of [
    '',
    '01',
    '+1',
    '1.0',
    '-0',
    ' 1',
    '1 ',
    '1e3',
    '0x10',
    '９',
    '9223372036854775808',
    '-9223372036854775809',
    '99999999999999999999'
  ]) {
    t.equal(parseInteger(text), undefined, text)
  }
})

t.test('the bytes of base64 have an ArrayBuffer of their own size', async (t) => {
  for (const length of [0, 1, 100, 4000, 5000, 100_000]) {
    const bytes = parseBase64(Buffer.alloc(length, 7).toString('base64'))
    t.strictSame([bytes?.length, bytes?.buffer.byteLength], [length, length])
  }
})

t.test('only canonical base64 is parsed', async (t) => {
  t.strictSame([...(parseBase64('AP8=') ?? [])], [0, 255])
  t.strictSame([...(parseBase64('') ?? [1])], [])
  for (const text of ['AP8', 'AP9=', 'A P8=', 'AP_8', 'AP8=\n']) t.equal(parseBase64(text), undefined, text)
})

import t from 'tap'
import { parseBase64, parseInteger } from '../../../services/model/literals.ts'

t.test('integers of 64 bits have one spelling', async (t) => {
  for (const spelling of ['0', '7', '-7', '9223372036854775807', '-9223372036854775808']) {
    t.equal(parseInteger(spelling), BigInt(spelling), spelling)
  }
  for (const spelling of [
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
    t.equal(parseInteger(spelling), undefined, spelling)
  }
})

t.test('base64 has one spelling', async (t) => {
  t.strictSame([...(parseBase64('AP8=') ?? [])], [0, 255])
  t.strictSame([...(parseBase64('') ?? [1])], [])
  for (const spelling of ['AP8', 'AP9=', 'A P8=', 'AP_8', 'AP8=\n']) t.equal(parseBase64(spelling), undefined, spelling)
})

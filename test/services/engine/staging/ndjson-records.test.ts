import t from 'tap'
import { createNdjsonReader } from '../../../../services/engine/staging/ndjson-records.ts'
import { MAX_PARTS } from '../../../../services/model/json-parts.ts'
import { rejection } from '../engine.ts'

const read = (text: string) => createNdjsonReader(() => {}).write(Buffer.from(text))

t.test('a line with a key twice or with too many parts ends the reading', async (t) => {
  t.match(await rejection(read('{"a":1}\n{"a":1,"a":2}\n')), { reason: { line: 2, code: 'duplicate' } })
  t.match(await rejection(read(`{"a":[${'[],'.repeat(MAX_PARTS)}[]]}\n`)), { reason: { line: 1, code: 'length' } })
})

import t from 'tap'
import { objectsIn } from '../../console/src/records/transfer/json-array.ts'

t.test('the texts of the objects are found, also of the beginning of an array', async (t) => {
  const first = '{"a" : 9007199254740993, "b": [1, {"c": "x,]}\\"{y"}]}'
  t.strictSame(objectsIn(`[ ${first},\r\n{}, {"d": -1.50e+3} ]\n`), [first, '{}', '{"d": -1.50e+3}'])
  for (const rest of ['', '{"d": "}', '{"d": {}', '{"d": "\\"}'])
    t.strictSame(objectsIn(`[${first}, ${rest}`), [first], rest)
})

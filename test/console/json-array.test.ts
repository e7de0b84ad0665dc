import t from 'tap'
import { toNdjson } from '../../console/src/tables/file/json-array.ts'

t.test('each object of an array becomes a line, and values keep their digits', async (t) => {
  const array = '\uFEFF[ {"a" : 9007199254740993, "b": [1, {"c": "x,]}\\"y"}]},\r\n{}, {"d": -1.50e+3} ]\n'
  t.equal(toNdjson(array), '{"a":9007199254740993,"b":[1,{"c":"x,]}\\"y"}]}\n{}\n{"d":-1.50e+3}\n')
})

t.test('what is not an array of objects is refused', async (t) => {
  t.throws(() => toNdjson('[{"a": 1}'), /This is not JSON/)
  t.throws(() => toNdjson('{"a": 1}'), /not an array of objects/)
  t.throws(() => toNdjson('[{"a": 1}, null]'), /Value 2 of the array/)
  t.throws(() => toNdjson('[[1]]'), /Value 1 of the array/)
})

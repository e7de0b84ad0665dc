import t from 'tap'
import { unknownName } from '../../../../services/engine/staging/import-errors.ts'

t.test('an unknown name with a separator may have another delimiter, in CSV only', async (t) => {
  t.match(unknownName('csv', 'name;price'), /`delimiter`/)
  t.match(unknownName('csv', 'name'), /`map`/)
  t.match(unknownName('ndjson', 'name;price'), /`map`/)
})

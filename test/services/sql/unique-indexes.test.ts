import t from 'tap'
import { uniqueIndexOf } from '../../../services/sql/unique-indexes.ts'

const read = (sql: string) => {
  const { terms, condition } = uniqueIndexOf('u', sql)
  return { terms, condition }
}

t.test('the terms and the condition of a unique index are read', async (t) => {
  t.strictSame(read('CREATE UNIQUE INDEX u ON t(lower(a) COLLATE NOCASE DESC, "b,c" ASC)'), {
    terms: ['lower ( a ) COLLATE NOCASE', '"b,c"'],
    condition: null
  })
  t.strictSame(read(`CREATE UNIQUE INDEX "u" ON [t] ( coalesce(a, ')', (b)) -- of (all)\n) WHERE (gone) = 0 -- end`), {
    terms: ["coalesce ( a , ')' , ( b ) )"],
    condition: '( gone ) = 0'
  })
})

import t from 'tap'
import { compare, isIn, isNotIn, matchesText } from '../../../services/sql/conditions.ts'

const table = { name: 't' }
const column = { name: 'x', jsonType: 'string' as const, sqliteType: 'TEXT' as const, declaredType: 'TEXT' }

// Keys with rules of the same SQL share what is cached for it.
t.test('the SQL of a condition contains no value, and no length of one', (t) => {
  const sqlOf = (value: string) =>
    [
      compare(table, column, 'eq', value),
      isIn(table, column, [...value]),
      isNotIn(table, column, [...value]),
      ...(['contains', 'startsWith', 'endsWith'] as const).map((operator) =>
        matchesText(table, column, operator, value)
      )
    ].map(({ sql, width }) => [sql, width])
  t.strictSame(sqlOf('longer'), sqlOf('ab'))
  t.end()
})

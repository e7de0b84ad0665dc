import t from 'tap'
import { toChangeError } from '../../../../services/engine/rqlite/errors.ts'

const OF_TRIGGERS = [
  'cannot delete a paid invoice',
  'no such customer',
  'unknown customer',
  'too many open orders',
  'order already exists',
  'database is locked by an audit'
]

const OF_SQLITE = [
  'cannot store TEXT value in INTEGER column t.n',
  'no such table: t',
  'no such column: n',
  'too many columns on t',
  'table t already exists',
  'near "x": syntax error'
]

t.test('the message of a trigger is none of SQLite', async (t) => {
  for (const message of OF_TRIGGERS)
    t.strictSame(toChangeError(message, 1), { code: 'SQLITE_CONSTRAINT_TRIGGER', message, statement: 1 })
  for (const message of OF_SQLITE) t.not(toChangeError(message).code, 'SQLITE_CONSTRAINT_TRIGGER', message)
  t.equal(toChangeError('database is locked').code, 'SQLITE_BUSY')
})
